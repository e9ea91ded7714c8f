import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createReadStream } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jobInState, readJob, startJob } from '../../support/api.ts';
import {
  descendants,
  endAll,
  FIXTURES,
  killAll,
  launch,
  run,
  type Running,
} from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

let database: TestDatabase;
let storage: string;
let server: Running;
let address: string;

beforeAll(async () => {
  storage = await quickFolder('longshore-reports-');
  // Jobs run as other users.
  await chmod(storage, 0o1777);
  database = await testDatabase();
  const env = {
    DATABASE_URL: database.url,
    LONGSHORE_JOBS: join(FIXTURES, 'reports'),
    LONGSHORE_RUNNER_ENV: 'REPORTS_DATABASE_URL,REPORTS_STORAGE',
    REPORTS_DATABASE_URL: database.url,
    REPORTS_STORAGE: storage,
  };
  server = await launch('start', { env });
  ({ address } = server.summary);
});
afterAll(async () => {
  await endAll();
  await database.close();
  await rm(storage, { recursive: true, force: true });
});

const ROWS = 200_000;
const paramsOf = (format: string, rows: number) => ({ report: 'large', format, values: { rows } });

it.each(['csv', 'xlsx'])('a large report as %s fits into the memory of its job', async (format) => {
  const jobId = await startJob(address, 'report', paramsOf(format, ROWS));
  const { result } = await jobInState(address, jobId, 'succeeded');
  const { rows, bytes, name } = result as { rows: number; bytes: number; name: string };
  expect(rows).toBe(ROWS);
  let length = 0;
  for await (const chunk of createReadStream(join(storage, name)))
    length += (chunk as Buffer).length;
  expect(length).toBe(bytes);
});

/** The backends of reports in the database. */
const backends = async () =>
  await database.sql<{ query: string }>(
    `select query from pg_stat_activity
     where application_name = 'longshore report' and datname = current_database()`,
  );
const cancel = async (jobId: string) => {
  const cancelled = await run(['cancel', jobId], { env: { LONGSHORE_URL: address } });
  expect(cancelled.code, cancelled.stderr).toBe(0);
  await jobInState(address, jobId, 'cancelled');
};

it('a cancelled job ends its query and leaves no file', async () => {
  const before = await readdir(storage);
  const jobId = await startJob(address, 'report', paramsOf('csv', 500_000_000));
  await until('it has rows', async () => {
    const { progress } = await readJob(address, jobId);
    return progress?.message?.includes('rows');
  });
  await cancel(jobId);
  await until('its backend is gone', async () => (await backends()).length === 0);
  expect(await readdir(storage)).toEqual(before);
});

it('the query of a killed process ends', async () => {
  const jobId = await startJob(address, 'report', { report: 'asleep' });
  await until('the query runs', async () =>
    (await backends()).some(({ query }) => query.startsWith('fetch')),
  );
  const runners = descendants(server.pid).filter((one) => one.command.includes('runner/main'));
  killAll(runners.map(({ pid }) => pid));
  await jobInState(address, jobId, 'retrying');
  await until('its backend is gone', async () => (await backends()).length === 0);
  await cancel(jobId);
});
