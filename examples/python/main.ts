import { createLongshore } from 'longshore';
import { outliers } from './jobs/outliers.ts';

/** Has a Python program look for outliers in a CSV file. */

const [csv = new URL('../report/sales.csv', import.meta.url).pathname, column = 'amount'] =
  process.argv.slice(2);
const longshore = await createLongshore({
  databaseUrl: process.env['DATABASE_URL'],
  data: '.longshore/examples',
  jobs: new URL('./jobs', import.meta.url).pathname,
});
const job = await longshore.enqueue(outliers, { csv, column, threshold: 2 });
console.log(JSON.stringify(await job.result()));
for await (const { stream, message } of job.logs()) console.log(`${stream}: ${message}`);
await longshore.stop();
