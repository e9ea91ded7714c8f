import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { jobInState, post } from '../../support/api.ts';
import { endAll, FIXTURES, isAlive, launch } from '../../support/processes.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

/** A worker process is killed while it runs a group. */

const database = databasePerTest();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-grouping-'));
});
afterEach(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

it('every item runs again elsewhere, after the process of the group is gone', async () => {
  const env = {
    DATABASE_URL: database.url,
    LONGSHORE_JOBS: join(FIXTURES, 'groups'),
    LONGSHORE_CONCURRENCY: '10',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_LEASE_MS: '3000',
    LONGSHORE_HEARTBEAT_MS: '500',
  };
  const gate = join(folder, 'gate');
  const { summary } = await launch('api', { env });
  await launch('scheduler', { env });
  const address = summary.address ?? '';
  const job = { definitionKey: 'grouped', params: { n: 1, gate } };
  const { status, body } = await post(`${address}/v1/jobs/batch`, { jobs: [job, job, job, job] });
  expect(status).toBe(202);
  const ids = (body as { jobs: { jobId: string }[] }).jobs.map(({ jobId }) => jobId);
  const first = await launch('worker', { env });
  const pid = await until(
    'the group runs',
    () => existsSync(`${gate}.pid`) && Number(readFileSync(`${gate}.pid`, 'utf8')),
  );
  process.kill(first.pid, 'SIGKILL');
  await until('the process of the group is gone', () => !isAlive(pid));
  await writeFile(gate, '');
  await launch('worker', { env });
  for (const id of ids) {
    expect(await jobInState(address, id, 'succeeded')).toMatchObject({
      attempts: 2,
      result: { n: 1 },
    });
  }
});
