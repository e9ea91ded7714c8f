import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { changeLimits } from '../../../src/store/limits/limits.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { SWEEP_START, sweepLimiters } from '../../../src/store/limits/sweep-limiters.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { claimLimited, clearFlow, expectNoDrift, publish, take } from '../../support/limits.ts';
import { enqueueOne, newWorker, request, settleAs, SUCCESS } from '../../support/jobs.ts';

/**
 * Time passes here only when a test says so: a rate so slow that nothing is refilled meanwhile, and
 * limiters whose last refill is moved into the past.
 */
const database = sharedDatabase();
let worker: string;

beforeEach(async () => {
  await clearFlow(database);
  worker = await newWorker(database);
});
afterEach(async () => await expectNoDrift(database));

const HOUR_MS = 3_600_000;
const SLOW = { limit: 1, perMs: HOUR_MS, burst: 2 };

const hoursPass = async (hours: number) =>
  await database.sql(
    `update longshore.limiter set refilled_at = refilled_at - make_interval(mins => ($1 * 60)::int),
       next_at = next_at - make_interval(mins => ($1 * 60)::int)`,
    [hours],
  );

const ids = (jobs: readonly ClaimedJob[]) => jobs.map(({ id }) => id);

const many = async (count: number, changes: Parameters<typeof request>[0] = {}) =>
  await database.enqueuer.start(Array.from({ length: count }, () => request(changes)));

describe('the rate of a definition', () => {
  beforeEach(async () => {
    await publish(database, 'hello', { rateLimit: SLOW });
    await many(6);
  });

  it('lets a burst start, then as many as time allows', async () => {
    expect(await take(database, worker, 10)).toHaveLength(2);
    const refused = await claimLimited(database, worker, 10);
    expect(refused).toMatchObject({ jobs: [], more: false });
    expect(refused.shutQueues).toHaveLength(1);
    expect(refused.opensInMs).toBeGreaterThan(0.9 * HOUR_MS);
    expect(refused.opensInMs).toBeLessThanOrEqual(HOUR_MS);
    await hoursPass(1);
    expect(await take(database, worker, 10)).toHaveLength(1);
    await hoursPass(100);
    expect(await take(database, worker, 10)).toHaveLength(2);
  });

  it('returns when it opens again with the claim that used it up', async () => {
    await take(database, worker, 1);
    const { jobs, opensInMs, shutQueues } = await claimLimited(database, worker, 5);
    expect(jobs).toHaveLength(1);
    expect(shutQueues).toEqual([jobs[0]?.queue]);
    expect(opensInMs).toBeGreaterThan(0.9 * HOUR_MS);
  });

  it('counts starts and not ends, beside a limit of how many run', async () => {
    const change = { concurrencyLimit: 1 };
    await changeLimits(database.db, 'definition', 'hello', change, null);
    const [first] = await take(database, worker, 10);
    const full = await claimLimited(database, worker, 10);
    expect(full).toMatchObject({ jobs: [], opensInMs: null });
    if (first) await settleAs(database, first, SUCCESS);
    const [second] = await take(database, worker, 10);
    if (second) await settleAs(database, second, SUCCESS);
    expect(await take(database, worker, 10)).toEqual([]);
  });

  it('can be lifted', async () => {
    await take(database, worker, 10);
    await changeLimits(database.db, 'definition', 'hello', { rateLimit: 0 }, null);
    expect(await take(database, worker, 10)).toHaveLength(4);
  });
});

describe('the rate of keys', () => {
  const keyed = async (concurrencyKey: string) => await enqueueOne(database, { concurrencyKey });
  /** What can be started by claims and by the loop that lets blocked jobs in, until nothing moves. */
  const start = async () => {
    const started: ClaimedJob[] = [];
    for (let idle = 0; idle < 2; idle += 1) {
      const jobs = await take(database, worker, 10);
      if (jobs.length > 0) idle = -1;
      started.push(...jobs);
      await promote(database.db, 0, 100);
    }
    return started;
  };

  beforeEach(async () => {
    await publish(database, 'hello', { keyRateLimit: SLOW });
  });

  it('holds for each key separately, and does not block others', async () => {
    const a = [await keyed('a'), await keyed('a'), await keyed('a'), await keyed('a')];
    const b = await keyed('b');
    const free = await enqueueOne(database);
    expect(new Set(ids(await start()))).toEqual(new Set([a[0], a[1], b, free]));
    await hoursPass(1);
    expect(ids(await start())).toEqual([a[2]]);
    await hoursPass(5);
    expect(ids(await start())).toEqual([a[3]]);
  });

  it('keeps blocked jobs out of the level, and returns when the next may start', async () => {
    for (let n = 0; n < 5; n += 1) await keyed('a');
    await start();
    expect(await database.sql('select from longshore.waiting where seq is not null')).toEqual([]);
    const { nextDueMs, levels } = await promote(database.db, 0, 100);
    expect(levels).toEqual([]);
    expect(nextDueMs).toBeGreaterThan(0.9 * HOUR_MS);
    await hoursPass(1);
    expect((await promote(database.db, 0, 100)).levels).toHaveLength(1);
  });

  it('sends back what comes to its claim too early', async () => {
    const jobs = [await keyed('a'), await keyed('a'), await keyed('a')];
    // As when two let in a job of the same key at the same moment.
    await database.sql(`update longshore.waiting set seq = blocked, blocked = null, has_permit = true
      where blocked is not null`);
    await database.sql(
      `update longshore.limiter set in_use = 3, blocked = 0 where definition is not null`,
    );
    const claimed = await claimLimited(database, worker, 10);
    expect(ids(claimed.jobs)).toEqual(jobs.slice(0, 2));
    expect(claimed.keyOpensInMs).toBeGreaterThan(0.9 * HOUR_MS);
    await expectNoDrift(database);
    await hoursPass(1);
    expect(ids(await start())).toEqual([jobs[2]]);
  });

  it('is remembered while the key is idle, and forgotten when its bucket is full', async () => {
    await keyed('a');
    const [job] = await take(database, worker, 1);
    if (job) await settleAs(database, job, SUCCESS);
    const keys = async () =>
      (await database.sql('select from longshore.limiter where definition is not null')).length;
    await sweepLimiters(database.db, 0, SWEEP_START, 100);
    expect(await keys()).toBe(1);
    await hoursPass(1);
    await sweepLimiters(database.db, 0, SWEEP_START, 100);
    expect(await keys()).toBe(0);
  });

  it('goes on when the one in the level is cancelled', async () => {
    const [first, second] = [await keyed('a'), await keyed('a')];
    await cancelJob(database.db, 'default', first);
    expect(ids(await start())).toEqual([second]);
  });

  it('works together with a limit of how many run of a key', async () => {
    await publish(database, 'hello', { keyRateLimit: SLOW, concurrencyKeyLimit: 1 });
    for (let n = 0; n < 4; n += 1) await keyed('a');
    const first = await start();
    expect(first).toHaveLength(1);
    for (const job of first) await settleAs(database, job, SUCCESS);
    expect(await start()).toHaveLength(1);
    await hoursPass(3);
    expect(await start()).toEqual([]);
  });
});
