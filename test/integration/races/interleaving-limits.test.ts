import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../../../src/core/queue/limits.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim, type ClaimedJob, type ClaimLevel } from '../../../src/store/claim/claim.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { claimLimited } from '../../../src/store/claim/limited-claim.ts';
import { installLimits, lockQueues } from '../../../src/store/limits/install-limits.ts';
import { Queues } from '../../../src/store/enqueue/queues.ts';
import { changeLimits } from '../../../src/store/limits/limits.ts';
import { pause } from '../../../src/store/limits/pauses.ts';
import { adopt, SWEEP_START, sweepLimiters } from '../../../src/store/limits/sweep-limiters.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { clearFlow, expectNoDrift, publish } from '../../support/limits.ts';
import { HeldLink, statementNamed, untilBlocked } from '../../support/servers/held-link.ts';
import { enqueueOne, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';

/** Two sides that want the same limiter, or the same job and a limiter, at the same moment. */
const database = sharedDatabase();
let worker: string;
let levels: ClaimLevel[];

beforeEach(async () => {
  await clearFlow(database);
  worker = await newWorker(database);
  const { queue } = await new Queues(database.db, 1).resolve('default', 'hello', 1);
  levels = [{ queue, rank: 0, floor: 0, attempts: 3 }];
});
afterEach(async () => await expectNoDrift(database));

const take = async (db: Queryable = database.db) =>
  (await claimLimited(db, 0, 10, worker, levels)).jobs;
const takePlain = async (db: Queryable = database.db) => await claim(db, 0, 10, worker, levels);
const sweep = async (db: Queryable = database.db) => await sweepLimiters(db, 0, SWEEP_START, 100);
const limit = async (concurrencyLimit: number) =>
  await changeLimits(database.db, 'definition', 'hello', { concurrencyLimit }, null);
const first = ([job]: ClaimedJob[]): ClaimedJob => {
  if (!job) throw new Error('nothing was claimed');
  return job;
};

describe('a limiter with one permit', () => {
  beforeEach(async () => {
    await publish(database, 'hello', { concurrencyLimit: 1 });
    await enqueueOne(database);
    await enqueueOne(database);
  });

  it.each([
    ['commits', 0],
    ['rolls back', 1],
  ])('is taken by a claim that %s: the next one waits, and gets %i', async (end, taken) => {
    const link = await HeldLink.begin(database);
    expect(await take(link)).toHaveLength(1);
    const second = take();
    await untilBlocked(database);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await second).toHaveLength(taken);
  });

  it.each([
    ['commits', 1],
    ['rolls back', 0],
  ])('is given back by an outcome that %s: a claim after it gets %i', async (end, taken) => {
    const job = first(await take());
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, job, SUCCESS);
    // Before the commit the limiter is seen as full, and no claim waits for it.
    expect(await take()).toEqual([]);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await take()).toHaveLength(taken);
  });

  it('is widened while a claim waits for it', async () => {
    const link = await HeldLink.begin(database);
    expect(await take(link)).toHaveLength(1);
    const widening = limit(2);
    await untilBlocked(database);
    await link.commit();
    await widening;
    expect(await take()).toHaveLength(1);
  });
});

describe('a limit that is set while jobs are claimed', () => {
  beforeEach(async () => {
    await publish(database, 'hello');
    await enqueueOne(database);
    await enqueueOne(database);
  });

  it('counts a claim that was under way once the sweep has seen it', async () => {
    const link = await HeldLink.begin(database);
    await claim(link, 0, 1, worker, levels);
    expect(await limit(1)).toMatchObject({ inUse: 0 });
    await link.commit();
    await sweep();
    expect(await take()).toEqual([]);
  });

  it('holds for a claim that begins after it, also for one that does not know the limiter', async () => {
    const link = await HeldLink.begin(database);
    await lockQueues(link);
    await installLimits(link, 0, 'definition', 'hello', { ...NO_LIMITS, concurrencyLimit: 1 });
    expect(await takePlain()).toHaveLength(2);
    await link.commit();
    await enqueueOne(database);
    expect(await takePlain()).toEqual([]);
    await sweep();
    expect(await take()).toEqual([]);
  });

  it('adopts a job before its turn comes, which is then refused', async () => {
    const jobs = await claim(database.db, 0, 1, worker, levels);
    const link = await HeldLink.begin(database);
    await lockQueues(link);
    await installLimits(link, 0, 'definition', 'hello', { ...NO_LIMITS, concurrencyLimit: 1 });
    expect(await adopt(link, 0)).toBe(1);
    const settlements = jobs.map(({ id, claim: claimNo }) => ({
      id,
      claim: claimNo,
      was: 'running' as const,
      transition: { to: 'succeeded', resultJson: '1' } as never,
      usage: { pid: null, exitCode: null, signal: null, peakRssBytes: null, cpuMs: null },
    }));
    const turning = settleAndClaim(database.db, 0, {
      settlements,
      limit: 0,
      instance: worker,
      levels,
    });
    await untilBlocked(database);
    await link.commit();
    expect((await turning).settled).toEqual(new Set());
    await settleAs(database, first(jobs), SUCCESS);
    expect(await take()).toHaveLength(1);
  });

  it('is younger than the outcome that gives its token back', async () => {
    const job = first(await claim(database.db, 0, 1, worker, levels));
    const link = await HeldLink.begin(database);
    await lockQueues(link);
    await installLimits(link, 0, 'definition', 'hello', { ...NO_LIMITS, concurrencyLimit: 1 });
    expect(await adopt(link, 0)).toBe(1);
    const settling = settleAs(database, job, SUCCESS);
    await untilBlocked(database);
    await link.commit();
    expect(await settling).toHaveLength(1);
    await expectNoDrift(database);
    expect(await take()).toHaveLength(1);
  });

  it('leaves a job alone that is just ending', async () => {
    const job = first(await takePlain());
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, job, SUCCESS);
    // The other one is adopted; no statement waits for this one.
    expect(await limit(1)).toMatchObject({ inUse: 1 });
    await link.commit();
  });
});

describe('queues that are made while something changes', () => {
  const made = async (key: string) =>
    await database.sql(
      `select definition_limiter is not null as limited, paused_at is not null as paused from longshore.queue
       where key = $1`,
      [key],
    );

  it('are seen by a change that waited for them', async () => {
    await publish(database, 'early');
    const link = await HeldLink.begin(database);
    await new Queues(link, 1).resolve('default', 'early', 1);
    const change = { concurrencyLimit: 1 };
    const changing = changeLimits(database.db, 'definition', 'early', change, null);
    await untilBlocked(database);
    await link.commit();
    await changing;
    expect(await made('early')).toEqual([{ limited: true, paused: false }]);
  });

  it('see a change that they waited for', async () => {
    const link = await HeldLink.begin(database);
    await lockQueues(link);
    await installLimits(link, 0, 'definition', 'late', { ...NO_LIMITS, concurrencyLimit: 1 });
    await link.run(statementNamed('pause'), ['definition', 'late', null, null]);
    const making = new Queues(database.db, 1).resolve('default', 'late', 1);
    await untilBlocked(database);
    await link.commit();
    await making;
    expect(await made('late')).toEqual([{ limited: true, paused: true }]);
  });
});

describe('a key with one permit', () => {
  const keyed = async () => await enqueueOne(database, { concurrencyKey: 'a' });

  beforeEach(async () => {
    await publish(database, 'hello', { concurrencyKeyLimit: 1 });
  });

  it('goes to a job that is stored while the holder ends', async () => {
    await keyed();
    const job = first(await takePlain());
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, job, SUCCESS);
    const storing = keyed();
    await untilBlocked(database);
    await link.commit();
    const id = await storing;
    expect(await takePlain()).toMatchObject([{ id }]);
  });

  it('goes to a job whose cancel is undone, while the end of the holder waits for it', async () => {
    await keyed();
    const holder = first(await takePlain());
    const id = await keyed();
    // A transaction changes the counter and never commits.
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', id);
    const settling = settleAs(database, holder, SUCCESS);
    await untilBlocked(database);
    await link.rollback();
    await settling;
    expect(await takePlain()).toMatchObject([{ id }]);
  });

  it('passes over a job that is being cancelled, and the sweep comes back to it', async () => {
    await keyed();
    const holder = first(await takePlain());
    const id = await keyed();
    const link = await HeldLink.begin(database);
    await link.run(
      { name: 'hold', text: 'select from longshore.waiting where id = $1 for update' },
      [id],
    );
    await settleAs(database, holder, SUCCESS);
    expect(await takePlain()).toEqual([]);
    await link.rollback();
    await sweep();
    expect(await takePlain()).toMatchObject([{ id }]);
  });

  it('is younger than the cancel that returns its permit', async () => {
    await publish(database, 'hello');
    await changeLimits(database.db, 'definition', 'hello', { concurrencyKeyLimit: 0 }, null);
    const [id, next] = [await keyed(), await keyed()];
    await changeLimits(database.db, 'definition', 'hello', { concurrencyKeyLimit: 1 }, null);
    const link = await HeldLink.begin(database);
    await sweep(link);
    const cancelling = cancelJob(database.db, 'default', id);
    await untilBlocked(database);
    await link.commit();
    await cancelling;
    await expectNoDrift(database);
    expect(await takePlain()).toMatchObject([{ id: next }]);
  });

  it('is not forgotten while a job of it is stored', async () => {
    const id = await keyed();
    await settleAs(database, first(await takePlain()), SUCCESS);
    const link = await HeldLink.begin(database);
    await sweep(link);
    const storing = keyed();
    await untilBlocked(database);
    await link.commit();
    const next = await storing;
    expect(next).not.toBe(id);
    expect(await takePlain()).toMatchObject([{ id: next }]);
  });
});

describe('a pause', () => {
  it('lets a claim through that began before, and none after', async () => {
    await enqueueOne(database);
    await enqueueOne(database);
    const link = await HeldLink.begin(database);
    expect(await claim(link, 0, 1, worker, levels)).toHaveLength(1);
    await pause(database.db, { scope: 'all' }, null, null);
    await link.commit();
    expect(await takePlain()).toEqual([]);
    expect(await take()).toEqual([]);
  });
});
