import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Longshore, type WorkerInfo } from '../../src/client/index.ts';
import { endAll, FIXTURES, isAlive, launch, run } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { until } from '../support/until.ts';

/** `longshore start --workers`: processes come and go with the load. */

let folder: string;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await quickFolder('longshore-fleet-');
  env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_POLL_MS: '100',
    LONGSHORE_CONCURRENCY: '1',
  };
});
afterEach(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

const JOBS = 2_000;

const active = (workers: readonly WorkerInfo[]) =>
  workers.filter(({ status }) => status === 'active');

it('starts workers while jobs wait, drains them when the load is gone, and loses none', async () => {
  const server = await launch('start', { env: { ...env, LONGSHORE_WORKERS: '1..3' } });
  const client = new Longshore({ url: server.summary.address });
  expect(active(await client.workers())).toHaveLength(1);
  const params = { file: join(folder, 'evidence'), holdMs: 300 };
  // Minutes of work for three slots.
  await client.enqueueMany(Array.from({ length: JOBS }, () => ({ definition: 'record', params })));
  const grown = await until('there are three workers', async () => {
    const found = active(await client.workers());
    return found.length === 3 ? found : null;
  });
  await until('each of them runs a job', async () =>
    active(await client.workers()).every(({ running }) => running.length > 0),
  );
  expect((await client.scale()).slots).toBe(3);

  await client.flow.pause({ definition: 'record' });
  const [left] = await until('one worker is left', async () => {
    const found = active(await client.workers());
    return found.length === 1 ? found : null;
  });
  const gone = grown.filter(({ pid }) => pid !== left?.pid);
  await until('the processes of the others are gone', () => !gone.some(({ pid }) => isAlive(pid)));
  await until('they have signed off', async () => {
    const workers = await client.workers();
    return gone.every(({ workerId }) =>
      workers.some((one) => one.workerId === workerId && one.status === 'dead' && !one.lost),
    );
  });
  // Counters lag a moment behind.
  const totals = await until('all jobs wait or have succeeded', async () => {
    const { totals: now } = await client.stats();
    return now.queued + now.succeeded === JOBS ? now : null;
  });
  expect(totals).toMatchObject({ running: 0, failed: 0, retrying: 0, cancelled: 0 });
  expect(server.stderr()).toContain('starting more workers');
  expect(server.stderr()).toContain('draining workers');
});

it('has a fixed number of workers, and restarts each', async () => {
  const server = await launch('start', { env: { ...env, LONGSHORE_WORKERS: '2' } });
  const client = new Longshore({ url: server.summary.address });
  const workers = await until('both are registered', async () => {
    const found = active(await client.workers());
    return found.length === 2 ? found : null;
  });
  const [victim] = workers;
  process.kill(victim?.pid ?? 0, 'SIGKILL');
  await until('another one takes its place', async () => {
    const pids = active(await client.workers()).map(({ pid }) => pid);
    return pids.some((pid) => !workers.some((one) => one.pid === pid));
  });
});

it('says how a worker process ended: its parent saw it', async () => {
  const server = await launch('start', { env });
  const url = server.summary.address;
  const client = new Longshore({ url });
  const params = { file: join(folder, 'evidence'), untilFile: join(folder, 'end') };
  const { id: jobId } = await client.enqueue('record', params);
  const { workerId } = await until('the job runs', async () => {
    const job = await client.get(jobId);
    return job.status === 'running' && job.workerId !== null ? { workerId: job.workerId } : null;
  });
  const pidOf = async () => (await client.workers()).find((one) => one.workerId === workerId)?.pid;
  const pid = (await pidOf()) ?? 0;
  process.kill(pid, 'SIGKILL');
  const killed = await until('the cause is known', async () =>
    (await client.workers()).find((one) => one.workerId === workerId && one.endedBy !== null),
  );
  expect(killed).toMatchObject({ status: 'dead', lost: true, endedBy: 'SIGKILL' });
  await until('another worker is up', async () => active(await client.workers()).length > 0);
  const asked = async (command: string) => (await run([command, '--url', url])).stdout;
  expect(await asked('workers')).toContain('dead (SIGKILL)');
  const issues = await asked('issues');
  expect(issues).toContain(`(pid ${pid}) was killed by SIGKILL`);
  expect(issues).toContain('record: 1 job stranded');
  writeFileSync(params.untilFile, '');
  await until('the job ran again', async () => (await client.get(jobId)).status === 'succeeded');
});
