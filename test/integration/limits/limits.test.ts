import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim } from '../../../src/store/claim/claim.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { changeLimits, readLimits } from '../../../src/store/limits/limits.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { SWEEP_START, sweepLimiters } from '../../../src/store/limits/sweep-limiters.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { testDatabase, sharedDatabase } from '../../support/servers/database.ts';
import { claimLimited, clearFlow, expectNoDrift, publish, take } from '../../support/limits.ts';
import { claimAny, enqueueOne, failure, loseLease, newWorker } from '../../support/jobs.ts';
import { request, settleAs, SUCCESS } from '../../support/jobs.ts';

const database = sharedDatabase();
let worker: string;

beforeEach(async () => {
  await clearFlow(database);
  worker = await newWorker(database);
});
afterEach(async () => await expectNoDrift(database));

const many = async (count: number, changes: Parameters<typeof request>[0] = {}) =>
  await database.enqueuer.start(Array.from({ length: count }, () => request(changes)));

const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

const inUse = async (name: string) =>
  (await readLimits(database.db, 'definition', [name]))[0]?.inUse;

describe('the limit of a definition', () => {
  it('lets so many run, and the next when one ends, in whatever way', async () => {
    await publish(database, 'hello', { concurrencyLimit: 2 });
    await many(5);
    const [first, second, ...more] = await take(database, worker, 10);
    expect(more).toEqual([]);
    expect(await claimLimited(database, worker, 10)).toMatchObject({ jobs: [], more: false });
    if (!first || !second) throw new Error('nothing was claimed');
    await settleAs(database, first, SUCCESS);
    const [third] = await take(database, worker, 10);
    await settleAs(database, second, failure('HANDLER_ERROR'));
    const [fourth] = await take(database, worker, 10);
    if (!third || !fourth) throw new Error('nothing was claimed');
    expect(await inUse('hello')).toBe(2);
    await settleAs(database, third, { kind: 'interrupted', message: 'deploy' });
    await settleAs(database, fourth, { kind: 'snoozed', delayMs: 60_000 });
    expect(await inUse('hello')).toBe(0);
    expect(await take(database, worker, 10)).toHaveLength(2);
  });

  it('holds for all versions and all tenants together', async () => {
    await publish(database, 'hello', { concurrencyLimit: 9 });
    await publish(database, 'hello', { concurrencyLimit: 2 }, 2);
    for (const tenant of ['a', 'b']) {
      for (const definitionVersion of [1, 2]) await many(3, { tenant, definitionVersion });
    }
    expect(await take(database, worker, 10)).toHaveLength(2);
    expect(await take(database, worker, 10)).toHaveLength(0);
  });

  it('is no way past for the claims that know of no limiters', async () => {
    await publish(database, 'hello', { concurrencyLimit: 1 });
    await many(3);
    expect(await claimAny(database, worker, 10)).toEqual([]);
    const queues = await database.sql<{ queue: number }>('select queue from longshore.queue');
    const levels = queues.map(({ queue }) => ({ queue, rank: 0, floor: 0, attempts: 3 }));
    const turn = { settlements: [], limit: 10, instance: worker, levels };
    expect((await settleAndClaim(database.db, 0, turn)).jobs).toEqual([]);
    expect(await claim(database.db, 0, 10, worker, levels)).toEqual([]);
  });

  it('leaves priorities and other definitions alone', async () => {
    await publish(database, 'limited', { concurrencyLimit: 1 });
    await many(3, { definitionKey: 'limited', priority: 5 });
    await many(3, { definitionKey: 'free', priority: 1 });
    await many(1, { definitionKey: 'free', priority: 9 });
    const jobs = await take(database, worker, 4);
    expect(jobs.map(({ rank }) => -rank)).toEqual([9, 5, 1, 1]);
    expect(jobs.map(({ limited }) => limited)).toEqual([false, true, false, false]);
  });

  it('counts levels that share it together, and reports that more jobs wait elsewhere', async () => {
    await publish(database, 'limited', { concurrencyLimit: 2 });
    for (const priority of [3, 2, 1]) await many(2, { definitionKey: 'limited', priority });
    await many(3, { definitionKey: 'free' });
    const first = await claimLimited(database, worker, 4);
    expect(first.jobs.map(({ rank }) => -rank)).toEqual([3, 3]);
    expect(first).toMatchObject({ more: true, shutQueues: [first.jobs[0]?.queue] });
    // A claim of zero jobs reports no more work: a worker without budget must not claim again.
    expect(await claimLimited(database, worker, 0)).toMatchObject({ jobs: [], more: false });
    expect((await claimLimited(database, worker, 4)).jobs).toHaveLength(3);
  });

  it('gets its permits back from a dead worker', async () => {
    await publish(database, 'hello', { concurrencyLimit: 1 });
    await many(2);
    const [lost] = await take(database, worker, 10);
    expect(await take(database, worker, 10)).toEqual([]);
    await loseLease(database, worker);
    const other = await newWorker(database);
    // The one that was lost is first again: it kept its place in the queue.
    expect(await take(database, other, 10)).toMatchObject([{ id: lost?.id, attempts: 2 }]);
  });
});

describe('a change of limits', () => {
  it('wins over the code until it is removed, and 0 lifts the limit of the code', async () => {
    await publish(database, 'hello', { concurrencyLimit: 1 });
    await many(9);
    expect(await take(database, worker, 9)).toHaveLength(1);
    const change = async (concurrencyLimit: number | null) =>
      await changeLimits(
        database.db,
        'definition',
        'hello',
        { concurrencyLimit },
        { name: 'ann', address: null },
      );
    expect(await change(3)).toMatchObject({
      effective: { concurrencyLimit: 3 },
      code: { concurrencyLimit: 1 },
      override: { concurrencyLimit: 3 },
      changedBy: 'ann',
      inUse: 1,
    });
    expect(await take(database, worker, 9)).toHaveLength(2);
    await publish(database, 'hello', { concurrencyLimit: 2 });
    expect(await change(null)).toMatchObject({ effective: { concurrencyLimit: 2 }, override: {} });
    expect(await take(database, worker, 9)).toEqual([]);
    expect(await change(0)).toMatchObject({ effective: { concurrencyLimit: null } });
    expect(await take(database, worker, 3)).toHaveLength(3);
  });

  it('starts nothing new until enough of what runs has ended', async () => {
    await publish(database, 'hello', { concurrencyLimit: 3 });
    await many(9);
    const jobs = await take(database, worker, 9);
    await changeLimits(database.db, 'definition', 'hello', { concurrencyLimit: 1 }, null);
    for (const job of jobs) {
      expect(await take(database, worker, 9)).toEqual([]);
      await settleAs(database, job, SUCCESS);
    }
    expect(await take(database, worker, 9)).toHaveLength(1);
  });

  it('adopts what runs already, and a turn cannot forget its token', async () => {
    await publish(database, 'hello');
    await many(5);
    const jobs = await claimAny(database, worker, 2);
    await changeLimits(database.db, 'definition', 'hello', { concurrencyLimit: 2 }, null);
    expect(await inUse('hello')).toBe(2);
    expect(await take(database, worker, 9)).toEqual([]);
    const settlements = jobs.map(({ id, claim: claimNo }) => ({
      id,
      claim: claimNo,
      was: 'running' as const,
      transition: { to: 'succeeded', resultJson: '1' } as never,
      usage: { pid: null, peakRssBytes: null, cpuMs: null, exitCode: null, signal: null },
    }));
    const turn = { settlements, limit: 0, instance: worker, levels: [] };
    expect((await settleAndClaim(database.db, 0, turn)).settled).toEqual(new Set());
    for (const job of jobs) await settleAs(database, job, SUCCESS);
    expect(await take(database, worker, 9)).toHaveLength(2);
  });

  it('refuses what cannot be', async () => {
    await publish(database, 'hello');
    const change = async (name: string, limits: object) =>
      await changeLimits(database.db, 'definition', name, limits, null);
    await expect(change('helo', { concurrencyLimit: 1 })).rejects.toThrow(/did you mean "?hello/i);
    await expect(change('hello', { concurencyLimit: 1 })).rejects.toThrow(/concurrencyLimit/);
    await expect(change('hello', { concurrencyLimit: -1 })).rejects.toThrow(/whole number from 0/);
    await expect(change('hello', { rateLimit: { limit: 1 } })).rejects.toThrow(/rateLimit.perMs/);
    const tenant = changeLimits(database.db, 'tenant', 'a', { concurrencyKeyLimit: 1 }, null);
    await expect(tenant).rejects.toThrow(/concurrencyLimit/);
  });
});

describe('the limit of a tenant', () => {
  it('holds over its definitions, together with theirs', async () => {
    await publish(database, 'one', { concurrencyLimit: 2 });
    await publish(database, 'two');
    await changeLimits(database.db, 'tenant', 'a', { concurrencyLimit: 3 }, null);
    for (const tenant of ['a', 'b']) {
      for (const definitionKey of ['one', 'two']) await many(4, { tenant, definitionKey });
    }
    const jobs = await take(database, worker, 20);
    const rows = await database.sql<{ key: string; tenant: string }>(
      `select l.key, l.tenant from longshore.running r join longshore.queue l using (shard, queue)`,
    );
    const count = (fits: (row: { key: string; tenant: string }) => boolean) =>
      rows.filter(fits).length;
    expect(count(({ tenant }) => tenant === 'a')).toBe(3);
    expect(count(({ key }) => key === 'one')).toBe(2);
    expect(count(({ key, tenant }) => key === 'two' && tenant === 'b')).toBe(4);
    for (const job of jobs) await settleAs(database, job, SUCCESS);
  });
});

describe('the limit of keys', () => {
  const keyed = async (concurrencyKey: string, changes: Parameters<typeof request>[0] = {}) =>
    await enqueueOne(database, { concurrencyKey, ...changes });

  beforeEach(async () => {
    await publish(database, 'hello', { concurrencyKeyLimit: 1 });
  });

  it('lets one of each key into its level, and the next when it ends', async () => {
    const first = [await keyed('a'), await keyed('b')];
    const second = [await keyed('a'), await keyed('b')];
    const free = await enqueueOne(database);
    const jobs = await claimAny(database, worker, 10);
    expect(ids(jobs)).toEqual([...first, free]);
    expect(jobs.map(({ limited }) => limited)).toEqual([true, true, false]);
    expect(await getJob(database.db, 'default', second[0] ?? '')).toMatchObject({
      status: 'queued',
      concurrencyKey: 'a',
    });
    for (const job of jobs) await settleAs(database, job, SUCCESS);
    expect(ids(await claimAny(database, worker, 10))).toEqual(second);
  });

  it('gives the next permit to the most urgent job', async () => {
    const first = await keyed('a');
    const late = await keyed('a');
    const urgent = await keyed('a', { priority: 5 });
    const [job] = await claimAny(database, worker, 10);
    expect(job?.id).toBe(first);
    if (job) await settleAs(database, job, SUCCESS);
    const [next] = await claimAny(database, worker, 10);
    expect(next?.id).toBe(urgent);
    if (next) await settleAs(database, next, SUCCESS);
    expect(ids(await claimAny(database, worker, 10))).toEqual([late]);
  });

  it('is kept by a job that goes back to its level, and passed on by one that waits', async () => {
    const [a, b] = [await keyed('a', { maxAttempts: 9 }), await keyed('a')];
    const [job] = await claimAny(database, worker, 10);
    if (job) await settleAs(database, job, { kind: 'lost', message: 'gone' });
    const [again] = await claimAny(database, worker, 10);
    expect(again?.id).toBe(a);
    if (again) await settleAs(database, again, failure('HANDLER_ERROR', 'boom', 0));
    await promote(database.db, 0, 10);
    expect(ids(await claimAny(database, worker, 10))).toEqual([b]);
  });

  it('is handed on by a cancel, of the one in the level as of the one that waits', async () => {
    const [a, b, c] = [await keyed('a'), await keyed('a'), await keyed('a')];
    await cancelJob(database.db, 'default', b);
    await expectNoDrift(database);
    await cancelJob(database.db, 'default', a);
    expect(ids(await claimAny(database, worker, 10))).toEqual([c]);
  });

  it('is taken by jobs that were held or scheduled when they come to their level', async () => {
    const held = await keyed('a', { hold: true });
    const later = await keyed('a', { runAt: new Date('2100-01-01') });
    const now = await keyed('a');
    await releaseJob(database.db, 'default', held);
    await database.sql('update longshore.waiting set run_at = now() where id = $1', [later]);
    await promote(database.db, 0, 10);
    const seen: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const jobs = await claimAny(database, worker, 10);
      expect(jobs).toHaveLength(1);
      for (const job of jobs) {
        seen.push(job.id);
        await settleAs(database, job, SUCCESS);
      }
    }
    expect(seen).toEqual([now, held, later]);
  });

  it('can be raised and lifted: the sweep permits waiting jobs', async () => {
    for (let n = 0; n < 6; n += 1) await keyed('a');
    const change = async (concurrencyKeyLimit: number) =>
      await changeLimits(database.db, 'definition', 'hello', { concurrencyKeyLimit }, null);
    const sweep = async () => await sweepLimiters(database.db, 0, SWEEP_START, 100);
    await change(3);
    expect((await sweep()).levels).toHaveLength(1);
    expect(await claimAny(database, worker, 10)).toHaveLength(3);
    await change(0);
    await sweep();
    expect(await claimAny(database, worker, 10)).toHaveLength(3);
  });

  it('set where jobs wait and run already, brings order into them', async () => {
    await publish(database, 'late');
    for (let n = 0; n < 4; n += 1) await keyed('a', { definitionKey: 'late' });
    const [running] = await claimAny(database, worker, 1);
    await changeLimits(database.db, 'definition', 'late', { concurrencyKeyLimit: 1 }, null);
    // Jobs in the level without a permit cannot be claimed, also before they are blocked.
    expect(await claimAny(database, worker, 10)).toEqual([]);
    await sweepLimiters(database.db, 0, SWEEP_START, 100);
    await expectNoDrift(database);
    expect(await claimAny(database, worker, 10)).toEqual([]);
    if (running) await settleAs(database, running, SUCCESS);
    expect(await claimAny(database, worker, 10)).toHaveLength(1);
  });

  it('deletes the limiters of unused keys', async () => {
    for (const key of ['a', 'b', 'c']) await keyed(key);
    const keys = async () =>
      (await database.sql('select from longshore.limiter where definition is not null')).length;
    expect(await keys()).toBe(3);
    const jobs = await claimAny(database, worker, 2);
    for (const job of jobs) await settleAs(database, job, SUCCESS);
    await sweepLimiters(database.db, 0, SWEEP_START, 100);
    expect(await keys()).toBe(1);
    expect(await claimAny(database, worker, 2)).toHaveLength(1);
  });

  it('is separate for each tenant', async () => {
    await keyed('a', { tenant: 'one' });
    await keyed('a', { tenant: 'two' });
    expect(await claimAny(database, worker, 10)).toHaveLength(2);
  });
});

describe('several shards', () => {
  it('divide a limit, and refuse one that cannot be divided', async () => {
    const sharded = await testDatabase({ shards: 2 });
    try {
      await publish(sharded, 'hello', { concurrencyLimit: 3, concurrencyKeyLimit: 1 });
      const limiters = 'select shard, lim, key_lim from longshore.limiter order by shard';
      expect(await sharded.sql(limiters)).toEqual([
        { shard: 0, lim: 2, key_lim: 1 },
        { shard: 1, lim: 1, key_lim: 1 },
      ]);
      const change = { concurrencyLimit: 1 };
      const changing = changeLimits(sharded.db, 'definition', 'hello', change, null);
      await expect(changing).rejects.toThrow(/must be at least 2.*2 shards/);
      expect(await readLimits(sharded.db, 'definition', ['hello'])).toMatchObject([
        { effective: { concurrencyLimit: 3 }, override: {} },
      ]);
    } finally {
      await sharded.close();
    }
  });
});
