import { createLongshore } from 'longshore';
import { research } from './jobs/research.ts';

/** Asks an agent about the documentation of Longshore, and has it killed half-way. */

const longshore = await createLongshore({
  databaseUrl: process.env['DATABASE_URL'],
  data: '.longshore/examples',
  jobs: new URL('./jobs', import.meta.url).pathname,
});
const job = await longshore.enqueue(research, {
  question: 'Which pages tell how retention and schedules work behind a pooler?',
  folder: new URL('../../docs', import.meta.url).pathname,
  crashAfter: 3,
});
for await (const { type, attempt, payload } of job.events({ follow: true })) {
  if (type === 'custom') console.log(`attempt ${attempt}:`, JSON.stringify(payload));
  if (type === 'retry_scheduled') console.log(`attempt ${attempt} failed, and is tried again`);
}
const { answer, turns, resumedAt } = await job.result();
console.log(
  `answered after ${turns} turns; the last attempt went on after turn ${resumedAt}\n${answer}`,
);
await longshore.stop();
