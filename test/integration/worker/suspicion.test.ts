import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RedisBeats } from '../../../src/liveness/redis-beats.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { reaper } from '../../../src/scheduler/reaper.ts';
import { suspicion } from '../../../src/scheduler/suspicion.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { findBeating, suspectWorkers } from '../../../src/store/workers/suspect-workers.ts';
import { buryWorkers, heartbeat, readLease } from '../../../src/store/workers/workers.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, newWorker } from '../../support/jobs.ts';
import { hasRedis, startRedis, type TestRedis } from '../../support/servers/redis.ts';
import { until } from '../../support/until.ts';

const LONG_MS = 120_000;
const CONTACT_MS = 30_000;

const database = sharedDatabase();
afterEach(async () => {
  await database.sql('truncate longshore.waiting, longshore.running, longshore.worker');
});

/** A worker with a long lease that promises to stop `CONTACT_MS` after its last contact. */
async function steadyWorker(): Promise<string> {
  const worker = await newWorker(database);
  await heartbeat(database.db, 0, worker, LONG_MS, CONTACT_MS);
  return worker;
}

const suspect = async (...workers: string[]) => await suspectWorkers(database.db, 0, workers);
const look = async (worker: string) => await readLease(database.db, 0, worker);

describe('a look', () => {
  it('answers like a heartbeat, and changes nothing', async () => {
    const worker = await steadyWorker();
    await enqueueOne(database);
    const [job] = await claimAny(database, worker, 1);
    const row = 'select *, xmin::text, ctid::text from longshore.worker';
    const before = await database.sql(row);
    const seen = await look(worker);
    expect(seen).toMatchObject({ alive: true, draining: false, suspected: false });
    expect(seen.owned).toMatchObject([{ id: job?.id, claim: 1, state: 'running' }]);
    expect(seen.leaseLeftMs).toBeGreaterThan(LONG_MS / 2);
    expect(await database.sql(row)).toEqual(before);
    const { leaseLeftMs: _left, suspected: _suspected, ...rest } = seen;
    expect(await heartbeat(database.db, 0, worker, LONG_MS, CONTACT_MS)).toEqual(rest);
  });

  it('of an unknown worker says that it is dead', async () => {
    expect(await look('00000000-0000-4000-8000-000000000000')).toMatchObject({ alive: false });
  });
});

describe('a suspicion', () => {
  it('first asks, and shortens the lease only when the question stays unanswered', async () => {
    const worker = await steadyWorker();
    await suspect(worker);
    let seen = await look(worker);
    expect(seen.suspected).toBe(true);
    expect(seen.leaseLeftMs).toBeGreaterThan(CONTACT_MS);
    await suspect(worker);
    seen = await look(worker);
    expect(seen.leaseLeftMs).toBeLessThanOrEqual(CONTACT_MS);
    expect(seen.leaseLeftMs).toBeGreaterThan(CONTACT_MS / 2);
    expect(await buryWorkers(database.db, 0)).toEqual([]);
  });

  it('is answered by a renewal, and begins anew after it', async () => {
    const worker = await steadyWorker();
    await suspect(worker);
    await suspect(worker);
    await heartbeat(database.db, 0, worker, LONG_MS, CONTACT_MS);
    expect(await look(worker)).toMatchObject({ suspected: false });
    expect((await look(worker)).leaseLeftMs).toBeGreaterThan(CONTACT_MS);
    await suspect(worker);
    expect((await look(worker)).leaseLeftMs).toBeGreaterThan(CONTACT_MS);
  });

  it('never makes a lease longer, however often it is repeated', async () => {
    const worker = await steadyWorker();
    await suspect(worker);
    await suspect(worker);
    const lease = 'select lease_until from longshore.worker';
    const before = await database.sql(lease);
    for (let time = 0; time < 3; time += 1) await suspect(worker);
    expect(await database.sql(lease)).toEqual(before);
  });

  it('does not touch a worker that promises nothing, nor a dead one', async () => {
    const plain = await newWorker(database, LONG_MS);
    for (let time = 0; time < 2; time += 1) expect(await suspect(plain)).toEqual([]);
    // Redis went away: back to a lease without promise.
    const former = await steadyWorker();
    await heartbeat(database.db, 0, former, LONG_MS);
    for (let time = 0; time < 2; time += 1) expect(await suspect(former)).toEqual([]);
    expect(await look(former)).toMatchObject({ suspected: false });
    const dead = await steadyWorker();
    await database.sql('update longshore.worker set dead_at = now() where instance = $1', [dead]);
    expect(await suspect(dead)).toEqual([]);
  });

  it('is about jobs that run for long enough to have a beat', async () => {
    const worker = await steadyWorker();
    await enqueueOne(database);
    const [job] = await claimAny(database, worker, 1);
    expect(await findBeating(database.db, 0, 60_000)).toEqual([{ worker, jobIds: [] }]);
    expect(await findBeating(database.db, 0, 0)).toEqual([{ worker, jobIds: [job?.id] }]);
  });
});

describe.skipIf(!hasRedis)('with beats in Redis (needs redis-server)', () => {
  const timing = { everyMs: 50, ttlMs: 400 };
  let redis: TestRedis;
  let beats: RedisBeats;
  beforeAll(async () => {
    if (hasRedis) redis = await startRedis();
  });
  afterAll(async () => await redis?.server.remove());
  beforeEach(async () => {
    beats = new RedisBeats({ url: redis.url, ttlMs: timing.ttlMs, log: silentLog });
    await beats.start();
  });
  afterEach(async () => await beats.stop());

  const expire = async (worker: string, agoMs: number) =>
    await database.sql(
      `update longshore.worker w set lease_until = at, heartbeat_at = at - (lease_until - heartbeat_at)
       from (select now() - make_interval(secs => $2::float8 / 1000) as at) c
       where instance = $1`,
      [worker, agoMs],
    );
  const reaping = (ttlMs = timing.ttlMs) => {
    const patient = { beats, timing: { ...timing, ttlMs } };
    return reaper({
      db: database.db,
      waker: database.waker,
      clock: systemClock,
      pollMs: 20,
      log: silentLog,
      beating: patient,
    });
  };
  const claimed = async (worker: string) => {
    const id = await enqueueOne(database);
    await claimAny(database, worker, 1);
    return id;
  };
  const stateOf = async (id: string) => (await getJob(database.db, 'default', id))?.status;

  it('a worker that beats although its lease is over is spared until the beats stop', async () => {
    const worker = await newWorker(database);
    const id = await claimed(worker);
    await redis.command('SET', `job:${id}:heartbeat`, worker);
    await expire(worker, 1);
    // Another worker is declared dead at once, so the reaper has checked both.
    const other = await newWorker(database);
    await expire(other, 1);
    const service = reaping(60_000);
    await service.start();
    await until('the other is dead', async () => !(await look(other)).alive);
    expect(await look(worker)).toMatchObject({ alive: true });
    expect(await stateOf(id)).toBe('running');
    await redis.command('DEL', `job:${id}:heartbeat`);
    await until('it is reclaimed', async () => (await stateOf(id)) === 'queued');
    await service.stop();
  });

  it('a beat that never ends does not keep a dead worker for ever', async () => {
    const worker = await newWorker(database);
    const id = await claimed(worker);
    await redis.command('SET', `job:${id}:heartbeat`, worker);
    await expire(worker, timing.ttlMs * 2);
    const service = reaping();
    await service.start();
    await until('it is reclaimed', async () => (await stateOf(id)) === 'queued');
    await service.stop();
  });

  it.each([
    ['without a long lease', async () => await newWorker(database, CONTACT_MS)],
    ['with a long lease', async () => await steadyWorker()],
  ])(
    'a worker %s is spared for as long as it may run without contact, however long Redis remembers it',
    async (_, register) => {
      const [dead, late] = [await register(), await register()];
      const ids = [await claimed(dead), await claimed(late)];
      for (const [index, worker] of [dead, late].entries()) {
        await redis.command('SET', `job:${ids[index]}:heartbeat`, worker);
      }
      await expire(dead, CONTACT_MS + 1);
      await expire(late, 1);
      const service = reaping(100 * CONTACT_MS);
      await service.start();
      await until('it is reclaimed', async () => (await stateOf(ids[0] ?? '')) === 'queued');
      await service.stop();
      expect(await look(late)).toMatchObject({ alive: true });
    },
  );

  it('only workers whose beats are missing are asked', async () => {
    const [silent, beating, stolen] = [
      await steadyWorker(),
      await steadyWorker(),
      await steadyWorker(),
    ];
    const ids: Record<string, string> = {};
    for (const worker of [silent, beating, stolen]) ids[worker] = await claimed(worker);
    await database.sql(`update longshore.running set started_at = now() - interval '1 minute'`);
    const service = suspicion(database.db, beats, timing, systemClock, silentLog);
    await redis.command('SET', `job:${ids[beating]}:heartbeat`, beating);
    // The beat of another worker on its job proves nothing.
    await redis.command('SET', `job:${ids[stolen]}:heartbeat`, beating);
    await service.start();
    for (const worker of [silent, stolen]) {
      await until(
        'its lease is shortened',
        async () => (await look(worker)).leaseLeftMs <= CONTACT_MS,
      );
    }
    expect(await look(beating)).toMatchObject({ suspected: false });
    await service.stop();
  });

  it('a Redis that does not answer causes no suspicion', async () => {
    const worker = await steadyWorker();
    await claimed(worker);
    await database.sql(`update longshore.running set started_at = now() - interval '1 minute'`);
    const away = new RedisBeats({ url: 'redis://127.0.0.1:1', ttlMs: 1, log: silentLog });
    await away.start();
    let ticks = 0;
    const counting = {
      beat: async () => undefined,
      ownersOf: async (jobIds: readonly string[]) => {
        ticks += 1;
        return await away.ownersOf(jobIds);
      },
    };
    const service = suspicion(database.db, counting, timing, systemClock, silentLog);
    await service.start();
    await until('it has asked several times', () => ticks > 3);
    await service.stop();
    await away.stop();
    expect(await look(worker)).toMatchObject({ suspected: false });
  });
});
