import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LocalWorkerSettings } from '../../../src/app/local-worker.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { settle } from '../../../src/store/claim/settle.ts';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES } from '../../../src/core/job/lifecycle.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { descendants, FIXTURES, isAlive } from '../../support/processes.ts';
import { type QuickWorker, startQuickWorker } from '../../support/servers/quick-worker.ts';
import { hasRedis, startRedis, type TestRedis } from '../../support/servers/redis.ts';
import { until } from '../../support/until.ts';

/**
 * Seed 002's scenarios of workers that beat in Redis, with real processes and a real Redis. Leases
 * are shorter than in life, in the same proportions: 1.5 s without Redis, 4 s with it.
 */
const LEASE_MS = 1_500;
const LONG_LEASE_MS = 4_000;
/**
 * Where a live worker must keep its jobs, no lease may end because the machine is busy: a worker that
 * cannot renew in time stops its jobs by itself, which is right and not what is tested.
 */
const ROOMY = { leaseMs: 10_000, redisLeaseMs: 24_000 };

const database = sharedDatabase();
let redis: TestRedis;
let folder: string;
let file: string;
const workers: QuickWorker[] = [];
const others: TestRedis[] = [];

beforeAll(async () => {
  if (!hasRedis) return;
  folder = await mkdtemp(join(tmpdir(), 'longshore-redis-'));
});
beforeEach(async () => {
  file = join(folder, randomUUID());
  if (hasRedis) redis = await startRedis();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map(async (worker) => await worker.stop()));
  for (const one of [redis, ...others.splice(0)]) await one?.server.remove();
  await database?.sql('truncate longshore.waiting, longshore.running, longshore.worker');
});
afterAll(async () => {
  if (!hasRedis) return;
  await rm(folder, { recursive: true });
});

async function startOther(): Promise<TestRedis> {
  const other = await startRedis();
  others.push(other);
  return other;
}

async function start(changes: Partial<LocalWorkerSettings> = {}): Promise<QuickWorker> {
  const worker = await startQuickWorker({
    databaseUrl: database.url,
    jobs: join(FIXTURES, 'jobs'),
    leaseMs: LEASE_MS,
    redisUrl: redis.url,
    redisLeaseMs: LONG_LEASE_MS,
    beatTiming: { everyMs: 200, ttlMs: 800 },
    ...changes,
  });
  workers.push(worker);
  return worker;
}

/** A worker process that serves no definition of these tests: it only watches the others. */
const startController = async (changes: Partial<LocalWorkerSettings> = {}) =>
  await start({ jobs: join(FIXTURES, 'fresh'), ...changes });

const enqueue = async (definitionKey: string, params: object = {}) =>
  await enqueueOne(database, { definitionKey, paramsJson: JSON.stringify(params) });
const job = async (id: string) => await getJob(database.db, 'default', id);
const neverEnding = async () => {
  const id = await enqueue('wait-for-abort');
  await until('it runs', async () => (await job(id))?.status === 'running');
  return id;
};
const ended = async (id: string) =>
  await until(`job ${id} has ended`, async () => {
    const seen = await job(id);
    return seen?.finishedAt ? seen : null;
  });
const startsIn = () =>
  existsSync(file) ? (readFileSync(file, 'utf8').match(/^start/gm) ?? []) : [];
const hasStarted = async (times: number) =>
  await until(`it has started ${times} time(s)`, () => startsIn().length >= times);

interface Row {
  instance: string;
  pid: number;
  leaseMs: number;
  heartbeatAgoMs: number;
  contact_ms: number | null;
  suspected_at: Date | null;
  lease_until: Date;
}

const rowOf = async ({ pid }: QuickWorker) => {
  const rows = await database.sql<Row>(
    `select *, extract(epoch from lease_until - heartbeat_at)::float8 * 1000 as "leaseMs",
       extract(epoch from clock_timestamp() - heartbeat_at)::float8 * 1000 as "heartbeatAgoMs"
     from longshore.worker where pid = $1 and dead_at is null`,
    [pid],
  );
  return rows[0];
};

/** Its lease is the long one. */
const isSteady = async (worker: QuickWorker, leaseMs = LEASE_MS) =>
  await until('it has a long lease', async () => {
    const row = await rowOf(worker);
    return row?.contact_ms === leaseMs && row.leaseMs > leaseMs * 2 ? row : null;
  });

/** Redis does not count: the lease is the usual one, and is renewed at the usual pace. */
const hasFallenBack = async (worker: QuickWorker, leaseMs = LEASE_MS) =>
  await until('it has the usual lease', async () => {
    const row = await rowOf(worker);
    return row?.contact_ms === null && row.leaseMs < leaseMs * 1.2 ? row : null;
  });

/** It has been written so often from now on. */
const renewedTimes = async (worker: QuickWorker, times: number) => {
  for (let time = 0; time < times; time += 1) {
    const before = (await rowOf(worker))?.lease_until;
    await until('it is renewed', async () => {
      return (await rowOf(worker))?.lease_until.getTime() !== before?.getTime();
    });
  }
};

/** How often this controller missed the heartbeat of a worker. */
const questions = (controller: QuickWorker) =>
  controller.stderr().split('asking it to renew its lease').length - 1;

const lostAt = async (id: string) => {
  const rows = await database.sql<{ finished_at: Date }>(
    `select finished_at from longshore.attempt where job_id = $1 and error_code = 'LEASE_EXPIRED'`,
    [id],
  );
  return rows[0]?.finished_at;
};

describe.skipIf(!hasRedis)('workers that beat in Redis (needs redis-server)', () => {
  it('happy path: a job longer than any lease runs once, and the database is spared', async () => {
    const leases = { leaseMs: 4_000, redisLeaseMs: 9_000 };
    const worker = await start(leases);
    const id = await enqueue('record', { file, holdMs: leases.redisLeaseMs + 1_000 });
    await hasStarted(1);
    const { instance } = await isSteady(worker, leases.leaseMs);
    await until('it beats for the job', async () => {
      return (await redis.command('GET', `job:${id}:heartbeat`)) === instance;
    });
    expect(Number(await redis.command('PTTL', `job:${id}:heartbeat`))).toBeGreaterThan(0);
    // Without Redis it would have been written three times by then, or be about to die.
    await until('its row stays unwritten for most of a usual lease', async () => {
      return ((await rowOf(worker))?.heartbeatAgoMs ?? 0) > leases.leaseMs * 0.6;
    });
    expect(await ended(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(await rowOf(worker)).toMatchObject({ instance });
    await until('the beat ends by itself', async () => {
      return (await redis.command('EXISTS', `job:${id}:heartbeat`)) === 0;
    });
  });

  it('a cancel comes as soon as without, though nothing is renewed', async () => {
    // No process listens here, so only a poll can have found it.
    const { leaseMs } = ROOMY;
    const worker = await start({ pooler: 'transaction', leaseMs, redisLeaseMs: 600_000 });
    const id = await neverEnding();
    const { heartbeatAgoMs: _ago, ...before } = await isSteady(worker, leaseMs);
    await cancelJob(database.db, 'default', id);
    expect(await ended(id)).toMatchObject({ status: 'cancelled' });
    expect(await rowOf(worker)).toMatchObject(before);
  });

  it('scenario 1: a crashed worker is noticed by its missing beats, long before its lease ends', async () => {
    const controller = await startController({ redisLeaseMs: 600_000 });
    const worker = await start({ redisLeaseMs: 600_000 });
    const id = await enqueue('record', { file, holdMs: 60_000 });
    await hasStarted(1);
    const { lease_until: lease } = await isSteady(worker);
    worker.signal('SIGKILL');
    const lost = await until('it is reclaimed', async () => await lostAt(id));
    expect(lost.getTime()).toBeLessThan(lease.getTime());
    expect(questions(controller)).toBeGreaterThan(0);
    expect(await job(id)).toMatchObject({ status: 'queued', attempts: 1 });
  });

  it('scenario 2: a controller that sees no beats takes nothing from a live worker', async () => {
    const controller = await startController({ redisUrl: (await startOther()).url });
    const worker = await start(ROOMY);
    const id = await neverEnding();
    const { instance } = await isSteady(worker, ROOMY.leaseMs);
    await until('it was asked again and again', () => questions(controller) > 10);
    // Unanswered, those questions would have left it the shorter lease.
    await isSteady(worker, ROOMY.leaseMs);
    expect(await job(id)).toMatchObject({ status: 'running', attempts: 1, workerId: instance });
  });

  it('scenario 2: nor does a controller that cannot reach Redis', async () => {
    const controller = await startController({ redisUrl: 'redis://127.0.0.1:1' });
    const worker = await start(ROOMY);
    const id = await neverEnding();
    const { instance } = await isSteady(worker, ROOMY.leaseMs);
    await renewedTimes(worker, 2);
    expect(await job(id)).toMatchObject({ status: 'running', attempts: 1, workerId: instance });
    expect(questions(controller)).toBe(0);
  });

  it('scenario 3: what happened while no controller was there is found by the next', async () => {
    const first = await start();
    const untilFile = `${file}-end`;
    const id = await enqueue('record', { file, untilFile });
    await hasStarted(1);
    // It is its own controller, and there is no other.
    first.signal('SIGKILL');
    await until('its process is gone', () => !isAlive(first.pid));
    writeFileSync(untilFile, '');
    await start();
    expect(await ended(id)).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it.each([
    ['killed', async () => await redis.server.kill(), async () => await redis.server.start()],
    [
      'frozen',
      async () => redis.server.signal('SIGSTOP'),
      async () => redis.server.signal('SIGCONT'),
    ],
  ])('scenario 4: while Redis is %s, leases are as without it', async (_, hurt, heal) => {
    const { leaseMs } = ROOMY;
    const worker = await start(ROOMY);
    await startController();
    const id = await neverEnding();
    const { instance } = await isSteady(worker, leaseMs);
    await hurt();
    await hasFallenBack(worker, leaseMs);
    await renewedTimes(worker, 6);
    await hasFallenBack(worker, leaseMs);
    await heal();
    await isSteady(worker, leaseMs);
    expect(await job(id)).toMatchObject({ status: 'running', attempts: 1, workerId: instance });
  });

  it('scenario 4: a worker that dies while Redis is gone is noticed by its lease', async () => {
    const [victim, other] = [await start(), await start(ROOMY)];
    const ids = [
      await neverEnding(),
      await neverEnding(),
      await neverEnding(),
      await neverEnding(),
    ];
    const { instance } = await isSteady(victim);
    await isSteady(other, ROOMY.leaseMs);
    const owners = await Promise.all(ids.map(async (id) => (await job(id))?.workerId));
    await redis.server.kill();
    await hasFallenBack(victim);
    await hasFallenBack(other, ROOMY.leaseMs);
    victim.signal('SIGKILL');
    for (const [index, id] of ids.entries()) {
      if (owners[index] === instance) await until('it is reclaimed', async () => await lostAt(id));
      else expect(await job(id)).toMatchObject({ status: 'running', attempts: 1 });
    }
    expect(new Set(owners).size).toBe(2);
  });

  it('scenario 4: an emptied Redis costs renewals and no job', async () => {
    const controller = await startController();
    const worker = await start(ROOMY);
    const id = await neverEnding();
    const { instance } = await isSteady(worker, ROOMY.leaseMs);
    const flushing = { on: true };
    const flusher = (async () => {
      while (flushing.on) await redis.command('FLUSHALL');
    })();
    await until('it was asked again and again', () => questions(controller) > 10);
    flushing.on = false;
    await flusher;
    expect(await job(id)).toMatchObject({ status: 'running', attempts: 1, workerId: instance });
  });

  it('scenario 5: a worker that comes back too late is refused', async () => {
    const first = await start();
    const id = await enqueue('record', { file, holdMs: 3_000 });
    await hasStarted(1);
    await isSteady(first);
    const runners = descendants(first.pid)
      .filter(({ command }) => command.includes('runner/main'))
      .map(({ pid }) => pid);
    expect(runners.length).toBeGreaterThan(0);
    first.signal('SIGSTOP');
    const second = await start();
    await until('it has started again', () => {
      if (startsIn().length < 2) return false;
      // At the very moment of the second start the processes of the first are gone.
      expect(runners.filter(isAlive)).toEqual([]);
      return true;
    });
    first.signal('SIGCONT');
    await until('the first knows', () => first.stderr().includes('fenced'));
    // What it would have written, had its runner survived.
    const outcome = { kind: 'success', resultJson: '"late"' } as const;
    const rules = {
      ...DEFAULT_RULES,
      state: 'running',
      attempts: 1,
      maxAttempts: 20,
      interruptions: 0,
    };
    const transition = decide(rules as Parameters<typeof decide>[0], outcome, 0.5);
    const late = { id, claim: 1, was: 'running', transition, usage: NO_USAGE } as const;
    expect(await settle(database.db, 0, [late])).toEqual([]);
    const { instance } = (await rowOf(second)) ?? {};
    expect(await ended(id)).toMatchObject({ status: 'succeeded', attempts: 2 });
    const [row] = await database.sql<{ worker: string; claim_no: number }>(
      'select worker, claim_no from longshore.done where id = $1',
      [id],
    );
    expect(row).toEqual({ worker: instance, claim_no: 2 });
  });

  it('a Redis that remembers the dead delays, and no more', async () => {
    const first = await start();
    const id = await enqueue('record', { file, holdMs: 60_000 });
    await hasStarted(1);
    const { instance, lease_until: lease } = await isSteady(first);
    first.signal('SIGKILL');
    await redis.command('SET', `job:${id}:heartbeat`, instance);
    await start();
    await hasStarted(2);
    expect(await job(id)).toMatchObject({ status: 'running', attempts: 2 });
    expect((await lostAt(id))?.getTime()).toBeGreaterThanOrEqual(lease.getTime());
  });
});
