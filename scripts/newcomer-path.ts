/**
 * The files a newcomer reads, in order, to know how a job goes from waiting to done. Together they
 * must stay short enough to be read in one sitting.
 */
import { readFileSync } from 'node:fs';

const PATH = [
  'src/core/job/job.ts',
  'src/core/job/lifecycle.ts',
  'src/store/claim/claim.ts',
  'src/store/claim/settle.ts',
  'src/worker/claim/loop.ts',
  'src/app/app.ts',
];
const LINES_MAX = 899;

const counts = PATH.map((file) => {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  return { file, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0) };
});
const total = counts.reduce((sum, { lines }) => sum + lines, 0);

for (const { file, lines } of counts) console.log(`${String(lines).padStart(5)}  ${file}`);
console.log(`${String(total).padStart(5)}  in all, at most ${LINES_MAX}`);
if (total > LINES_MAX) process.exitCode = 1;
