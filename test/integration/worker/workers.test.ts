import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { WorkerView } from '../../../src/core/queue/worker.ts';
import { createLongshore, defineJob } from '../../../src/index.ts';
import { localWorker } from '../../../src/app/local-worker.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { type Service, startAll, stopAll } from '../../../src/runtime/service.ts';
import { WorkersAnswer } from '../../../src/protocol/answers/worker-answer.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { buryWorkers, registerWorker, retireWorker } from '../../../src/store/workers/workers.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { sharedServer } from '../../support/server-edge.ts';
import { claimAny, enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { QUICK } from '../../support/servers/quick-worker.ts';
import { until } from '../../support/until.ts';

const SHARDS = 2;
const database = sharedDatabase({ shards: SHARDS });
const app = sharedServer(database);
let services: Service[] = [];

afterEach(async () => {
  await stopAll(services);
  services = [];
  await database.sql('truncate longshore.waiting, longshore.running, longshore.worker');
});

const headers = { host: 'localhost' };
const list = async () => {
  const answer = await app.inject({ url: '/v1/workers', headers });
  expect(answer.statusCode).toBe(200);
  return WorkersAnswer.parse(answer.json()).workers as WorkerView[];
};
const drain = async (id: string) =>
  await app.inject({ method: 'POST', url: `/v1/workers/${id}/drain`, headers });

/** A worker that is known to every shard, as a real one is. */
async function register(): Promise<string> {
  const instance = randomUUID();
  const worker = { instance, host: 'h', pid: 42, version: '1.2', slots: 3, leaseMs: 60_000 };
  for (let shard = 0; shard < SHARDS; shard += 1) await registerWorker(database.db, shard, worker);
  return instance;
}

describe('GET /v1/workers', () => {
  it('tells each worker once, with the jobs it holds', async () => {
    expect(await list()).toEqual([]);
    const [busy, idle] = [await register(), await register()];
    // Definitions live in different shards; this helper claims from the first.
    const ids = await Promise.all(
      ['a', 'b', 'c', 'd'].map((key) => enqueueOne(database, { definitionKey: key })),
    );
    const claimed = (await claimAny(database, busy, 10)).map(({ id }) => id);
    expect(claimed.length).toBeGreaterThan(0);
    expect(ids).toEqual(expect.arrayContaining(claimed));
    // Both may have started in the same millisecond, so their order is not fixed.
    const views = await list();
    expect(views).toHaveLength(2);
    expect(views.find(({ workerId }) => workerId === idle)).toMatchObject({ running: [] });
    const second = views.find(({ workerId }) => workerId === busy);
    expect(second).toMatchObject({
      workerId: busy,
      host: 'h',
      pid: 42,
      version: '1.2',
      slots: 3,
      status: 'active',
    });
    expect([...(second?.running ?? [])].sort()).toEqual(claimed.sort());
    expect(second?.busy).toBe(claimed.length);
    expect(second?.jobs.map(({ jobId }) => jobId)).toEqual(second?.running);
    expect(second?.jobs[0]).toMatchObject({
      definitionVersion: 1,
      tenant: 'default',
      startedAt: expect.stringMatching(/Z$/),
    });
    expect(Date.parse(second?.leaseExpiresAt ?? '')).toBeGreaterThan(
      Date.parse(second?.heartbeatAt ?? ''),
    );
  });

  it('keeps the dead for a while, after the living', async () => {
    const [dead, alive] = [await register(), await register()];
    for (let shard = 0; shard < SHARDS; shard += 1) await retireWorker(database.db, shard, dead);
    expect((await list()).map(({ workerId, status }) => [workerId, status])).toEqual([
      [alive, 'active'],
      [dead, 'dead'],
    ]);
  });

  it('tells those that left from those that were lost', async () => {
    const [left, lost] = [await register(), await register()];
    const over = `lease_until = clock_timestamp() - interval '1 second'`;
    await database.sql(`update longshore.worker set ${over} where instance = $1`, [lost]);
    for (let shard = 0; shard < SHARDS; shard += 1) {
      await retireWorker(database.db, shard, left);
      await buryWorkers(database.db, shard);
    }
    const found = new Map((await list()).map((worker) => [worker.workerId, worker.lost]));
    expect([found.get(left), found.get(lost)]).toEqual([false, true]);
  });
});

describe('POST /v1/workers/{id}/drain', () => {
  it('is accepted as often as one likes, and keeps the worker from claiming', async () => {
    const worker = await register();
    for (let time = 0; time < 2; time += 1) {
      const answer = await drain(worker);
      expect([answer.statusCode, answer.json()]).toEqual([
        202,
        { workerId: worker, status: 'draining' },
      ]);
    }
    expect(await list()).toMatchObject([{ workerId: worker, status: 'draining' }]);
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((key) => enqueueOne(database, { definitionKey: key })),
    );
    expect(await claimAny(database, worker, 10)).toEqual([]);
    expect((await claimAny(database, await register(), 10)).length).toBeGreaterThan(0);
  });

  it('refuses what is unknown with 404, and what is dead with 409', async () => {
    for (const id of [randomUUID(), 'x', '0'.repeat(150)]) {
      const answer = await drain(id);
      expect([answer.statusCode, answer.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
    }
    const worker = await register();
    for (let shard = 0; shard < database.db.shards; shard += 1) {
      await retireWorker(database.db, shard, worker);
    }
    const answer = await drain(worker);
    expect([answer.statusCode, answer.json()]).toMatchObject([409, { code: 'CONFLICT' }]);
  });

  it('reaches one that has lost its lease in one shard, where it still lives', async () => {
    const worker = await register();
    await retireWorker(database.db, 1, worker);
    expect((await drain(worker)).statusCode).toBe(202);
  });

  it('takes no fields', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: `/v1/workers/${await register()}/drain`,
      headers,
      payload: { force: true },
    });
    expect(answer.json()).toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});

describe('a worker that is asked to drain', () => {
  it('hears of it with its next heartbeat, says so, and starts nothing new', async () => {
    const { db, waker, url } = database;
    const jobs = join(FIXTURES, 'jobs');
    const settings = { ...QUICK, databaseUrl: url, jobs, leaseMs: 3_000, drainMs: 60_000 };
    const local = localWorker(db, waker, settings, createLog('silent'));
    services = local.services;
    await startAll(services);
    const running = await enqueueOne(database, { definitionKey: 'wait-for-abort' });
    await until('it runs', async () => {
      return (await getJob(db, 'default', running))?.status === 'running';
    });
    const [worker] = await list();
    expect(worker?.running).toEqual([running]);
    expect((await drain(worker?.workerId ?? '')).statusCode).toBe(202);
    await local.drainAsked;
    const later = await enqueueOne(database, { definitionKey: 'echo' });
    const stopping = local.worker.stop();
    // It goes on renewing its lease for what still runs.
    const before = (await list())[0]?.heartbeatAt ?? '';
    await until('it beats on', async () => ((await list())[0]?.heartbeatAt ?? '') > before);
    expect((await getJob(db, 'default', running))?.status).toBe('running');
    expect((await getJob(db, 'default', later))?.status).toBe('queued');
    await app.inject({ method: 'POST', url: `/v1/jobs/${running}/cancel`, headers });
    await stopping;
    expect((await getJob(db, 'default', running))?.status).toBe('cancelled');
    expect(await list()).toMatchObject([{ workerId: worker?.workerId, status: 'dead' }]);
  });

  it('leaves the application that it is part of in peace, which can still enqueue', async () => {
    const tiny = defineJob({ key: 'tiny', isolation: 'inline', run: () => 1 });
    const longshore = await createLongshore({
      databaseUrl: database.url,
      shards: SHARDS,
      jobs: [tiny],
    });
    const first = await longshore.enqueue(tiny, {});
    await until('it has run', async () => {
      return (await getJob(database.db, 'default', first.id))?.status === 'succeeded';
    });
    await drain((await list())[0]?.workerId ?? '');
    await until('the worker has left', async () => (await list())[0]?.status === 'dead');
    expect(await longshore.enqueue(tiny, {})).toMatchObject({ status: 'queued' });
    await longshore.stop();
  });
});
