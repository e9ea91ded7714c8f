import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rollUpAll } from '../../../src/store/counters/roll-up.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

const database = sharedDatabase();

it('the usage of a day is the sum of its attempts, whichever statement settled them', async () => {
  const { worker, stop } = workerOn(database, { jobs: join(FIXTURES, 'jobs') });
  await worker.start();
  const stopScheduling = await scheduling(database);
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    ids.push(await enqueueOne(database, { definitionKey: 'echo' }));
    if (n % 4 === 0) ids.push(await enqueueOne(database, { definitionKey: 'refuse' }));
  }
  ids.push(await enqueueOne(database, { definitionKey: 'spin' }));
  for (const id of ids) await jobEnded(database, id);
  await stop();
  await stopScheduling();
  await rollUpAll(database.db);
  const ended = (table: 'done' | 'attempt') =>
    `select q.key, e.cpu_ms, e.peak_rss_bytes from longshore.${table} e
     join longshore.job j on j.id = e.${table === 'done' ? 'id' : 'job_id'}
     join longshore.queue q on q.queue = j.queue`;
  const expected = await database.sql(
    `select key, count(*)::int as attempts, sum(cpu_ms)::int as cpu,
       max(peak_rss_bytes)::float8 as peak
     from (${ended('done')} where e.state = 'succeeded' union all ${ended('attempt')}) e
     group by key order by key`,
  );
  const counted = await database.sql(
    `select key, sum(attempts)::int as attempts, sum(cpu_ms)::int as cpu,
       max(peak_rss_bytes)::float8 as peak
     from longshore.usage_day group by key order by key`,
  );
  expect(counted).toEqual(expected);
  expect(counted).toMatchObject([
    { key: 'echo', attempts: 12 },
    { key: 'refuse', attempts: 3 },
    { key: 'spin', attempts: 1 },
  ]);
  const jobs = `select sum(jobs)::int as jobs, bool_and(run_ms > 0) as ran,
    min(peak_rss_bytes) > 1000000 as measured from longshore.usage_day`;
  expect(await database.sql(jobs)).toEqual([{ jobs: 16, ran: true, measured: true }]);
});
