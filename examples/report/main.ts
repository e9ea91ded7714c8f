import { createLongshore } from 'longshore';
import { salesReport } from './jobs/report.ts';

/** Turns a CSV file of sales into a PDF, and tells what the job says while it works. */

const csv = process.argv[2] ?? new URL('./sales.csv', import.meta.url).pathname;
const longshore = await createLongshore({
  databaseUrl: process.env['DATABASE_URL'],
  data: '.longshore/examples',
  jobs: new URL('./jobs', import.meta.url).pathname,
  // These jobs write into a folder of this application, so they keep its user, also when that is root.
  runnerUids: 'none',
});
const job = await longshore.enqueue(salesReport, {
  csv,
  pdf: 'tmp/report.pdf',
  title: 'Sales, January',
});
for await (const { type, payload } of job.events({ follow: true })) {
  console.log(type, type === 'custom' ? JSON.stringify(payload) : '');
}
const { pdf, rows, total, bytes } = await job.result();
console.log(`${pdf}: ${rows} rows, ${total.toFixed(2)} in all, ${bytes} bytes`);
await longshore.stop();
