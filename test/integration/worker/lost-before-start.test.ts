import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { descendants, FIXTURES, killAll } from '../../support/processes.ts';
import { until } from '../../support/until.ts';
import { scheduling, workerOn } from '../../support/servers/worker.ts';

/** A job that was claimed waits until a process has been started for it. Much can happen meanwhile. */

let database: TestDatabase;
let folder: string;
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'longshore-held-'));
  process.env['HELD_BY'] = join(folder, 'hold');
  const times = { slots: 1, leaseMs: 60_000, heartbeatMs: 50, pollMs: 50, drainMs: 1_000 };
  const jobs = join(FIXTURES, 'held');
  const { worker, stop } = workerOn(database, { jobs, runnerEnv: 'HELD_BY', ...times });
  await worker.start();
  stops = [stop, await scheduling(database)];
});

afterEach(async () => {
  await release();
  for (const stop of stops) await stop();
  await database.close();
  delete process.env['HELD_BY'];
  await rm(folder, { recursive: true });
});

const release = async () => await rm(join(folder, 'hold'), { force: true });

const runners = () =>
  descendants(process.pid).filter(({ command }) => /runner\/main/.test(command));

const view = async (id: string) => await getJob(database.db, 'default', id);

/** A job that is claimed, and whose process is being started and does not come to an end. */
async function claimedAndWaiting(): Promise<{ id: string; pid: number }> {
  const before = runners();
  await writeFile(join(folder, 'hold'), '');
  killAll(before.map(({ pid }) => pid));
  await until('no process is ready', () => runners().length === 0);
  const id = await enqueueOne(database, { definitionKey: 'held-pid' });
  const [runner] = await until('a process is being started', () =>
    runners().length > 0 ? runners() : null,
  );
  return { id, pid: runner?.pid ?? 0 };
}

it('is not begun by a worker that lost its lease meanwhile', async () => {
  const { id, pid } = await claimedAndWaiting();
  await database.sql('update longshore.worker set dead_at = clock_timestamp()');
  await until('it was taken back', async () => (await view(id))?.status === 'queued');
  await release();
  const job = await until('it has ended', async () => {
    const found = await view(id);
    return found?.finishedAt ? found : null;
  });
  expect(job).toMatchObject({ status: 'succeeded', attempts: 2 });
  // Had the process got the job after all, it would have been killed. It need not be the one that
  // runs the second attempt: that one may be claimed before the first process has loaded.
  expect(runners().map((runner) => runner.pid)).toContain(pid);
});

it('is not begun when it was cancelled meanwhile', async () => {
  const { id, pid } = await claimedAndWaiting();
  expect(await cancelJob(database.db, 'default', id)).toMatchObject({ status: 'cancelling' });
  await until('the worker knows', async () => {
    const rows = await database.sql<{ beats: boolean }>(
      `select bool_or(heartbeat_at > (select cancel_requested_at from longshore.running)
         + interval '100 ms') as beats from longshore.worker where dead_at is null`,
    );
    return rows[0]?.beats;
  });
  await release();
  await until('it is cancelled', async () => (await view(id))?.status === 'cancelled');
  const next = await enqueueOne(database, { definitionKey: 'held-pid' });
  await until('the next one has ended', async () => (await view(next))?.finishedAt);
  expect(await view(next)).toMatchObject({ status: 'succeeded', result: { pid } });
});
