import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { jobInState, readJob, startJob } from '../support/api.ts';
import { testDatabase } from '../support/servers/database.ts';
import { endAll, FIXTURES, isAlive, launch, run } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { until } from '../support/until.ts';

/** Draining a worker by the API: it finishes, leaves, and loses nothing. */

let folder: string;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await quickFolder('longshore-drain-');
  env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_LEASE_MS: '3000',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_CONCURRENCY: '2',
  };
});
afterEach(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

describe('longshore workers drain', () => {
  it('lets a worker finish what it runs and exit with 0; the next one takes over', async () => {
    const database = await testDatabase();
    env['DATABASE_URL'] = database.url;
    const { address } = (await launch('api', { env })).summary;
    const worker = await launch('worker', { env });
    const params = { file: join(folder, 'evidence'), holdMs: 2_500 };
    const id = await startJob(address, 'record', params);
    await jobInState(address, id, 'running');
    const client = new Longshore({ url: address });
    const [seen] = await client.workers();
    expect(seen).toMatchObject({ pid: worker.pid, running: [id], status: 'active' });

    const drained = await run(['workers', 'drain', seen?.workerId ?? '', '--url', address]);
    expect(drained).toMatchObject({ code: 0, stdout: `${seen?.workerId}  draining\n` });
    const next = await startJob(address, 'echo');
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    expect(await readJob(address, id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(await readJob(address, next)).toMatchObject({ status: 'queued' });
    expect(await client.workers()).toMatchObject([{ workerId: seen?.workerId, status: 'dead' }]);

    await launch('worker', { env });
    await jobInState(address, next, 'succeeded');
    await endAll();
    await database.close();
  });

  it('under start is a restart: what takes too long is given back and runs in the next', async () => {
    env['LONGSHORE_DRAIN_MS'] = '200';
    const server = await launch('start', { env });
    const { address } = server.summary;
    const client = new Longshore({ url: address });
    const untilFile = join(folder, 'end');
    const id = await startJob(address, 'record', { file: join(folder, 'evidence'), untilFile });
    await jobInState(address, id, 'running');
    const [old] = await client.workers();
    await client.drainWorker(old?.workerId ?? '');
    await until('its process is gone', () => !isAlive(old?.pid ?? 0));
    writeFileSync(untilFile, '');
    const fresh = await until('a new one is there', async () =>
      (await client.workers()).find(({ status }) => status === 'active'),
    );
    expect(fresh.pid).not.toBe(old?.pid);
    // Interrupted, not failed: the attempt was given back.
    expect(await jobInState(address, id, 'succeeded')).toMatchObject({ attempts: 1 });
    expect(server.stderr()).toContain('stopped as asked; restarting');
    expect(server.stderr()).not.toContain('starting it again');
  });
});
