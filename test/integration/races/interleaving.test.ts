import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES } from '../../../src/core/job/lifecycle.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { saveProgress } from '../../../src/store/attempt/progress.ts';
import { settlementStatusOf } from '../../../src/store/claim/settlement-status.ts';
import { settle, type Settlement } from '../../../src/store/claim/settle.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { buryWorkers, findOrphans, heartbeat } from '../../../src/store/workers/workers.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  claimSubject,
  lookAt,
  reachOwned,
  reachState,
  type Subject,
} from '../../support/checks/reach-state.ts';

/**
 * Two sides that want the same owned job at the same moment. One side holds its transaction open
 * with its locks taken; the other side runs into them. Each pair in both orders, and with both ends
 * of the first where it matters: exactly one wins, and the other gets the true answer.
 */
const database = sharedDatabase();

const LOST = { kind: 'lost', message: 'gone' } as const;

const stateOf = async (subject: Subject) => (await lookAt(database, subject)).state;

const owned = async () => await reachOwned(database);

const cancel = async ({ id }: Subject) => await cancelJob(database.db, 'default', id);

const success = (job: ClaimedJob): Settlement => {
  const transition = decide({ ...job, ...DEFAULT_RULES, state: 'running' }, SUCCESS, 0.5);
  return { id: job.id, claim: job.claim, was: 'running', transition, usage: NO_USAGE };
};

describe('a stale claim', () => {
  it('changes nothing by any of its writes, and learns it', async () => {
    const subject = await owned();
    await settleAs(database, subject.job, LOST);
    const [current] = await claimSubject(database, subject);
    expect(current).toMatchObject({ id: subject.id, claim: 2 });
    const { id, claim } = subject.job;
    const row = async () =>
      await database.sql('select * from longshore.running where id = $1', [id]);
    const before = await row();
    for (const outcome of [SUCCESS, failure('HANDLER_ERROR'), LOST]) {
      expect(await settleAs(database, subject.job, outcome)).toEqual([]);
      expect(await settleAs(database, subject.job, outcome, 'cancelling')).toEqual([]);
    }
    await saveProgress(database.db, 0, [{ id, claim, fraction: 0.9, message: 'stale' }]);
    const settlements = [success(subject.job)];
    const turn = { settlements, limit: 1, instance: subject.worker, levels: [] };
    expect(await settleAndClaim(database.db, 0, turn)).toEqual({ settled: new Set(), jobs: [] });
    expect(await row()).toEqual(before);
    expect(await settlementStatusOf(database.db, 0, id, claim)).toEqual({ kind: 'stale' });
    expect(await settlementStatusOf(database.db, 0, id, 2)).toEqual({
      kind: 'owned',
      state: 'running',
    });
  });
});

describe('settle and cancel', () => {
  it.each([
    ['commits', 'succeeded', { kind: 'refused', status: 'succeeded' }],
    ['rolls back', 'cancelling', { kind: 'changed', status: 'cancelling' }],
  ])('settle comes first and %s', async (end, state, answer) => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    expect(await settleAs({ db: link }, subject.job, SUCCESS)).toHaveLength(1);
    const cancelling = cancel(subject);
    await untilBlocked(database);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await cancelling).toEqual(answer);
    expect(await stateOf(subject)).toBe(state);
  });

  it('settle comes first with a retry, so the cancel finds the job in another table', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, failure('HANDLER_ERROR'));
    const cancelling = cancel(subject);
    await untilBlocked(database);
    await link.commit();
    expect(await cancelling).toEqual({ kind: 'changed', status: 'cancelled' });
    expect(await stateOf(subject)).toBe('cancelled');
  });

  it('cancel comes first, so the claim decides again', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    const settling = settleAs(database, subject.job, failure('HANDLER_ERROR'));
    await untilBlocked(database);
    await link.commit();
    expect(await settling).toEqual([]);
    const status = await settlementStatusOf(database.db, 0, subject.id, subject.job.claim);
    expect(status).toEqual({ kind: 'owned', state: 'cancelling' });
    await settleAs(database, subject.job, failure('HANDLER_ERROR'), 'cancelling');
    expect(await stateOf(subject)).toBe('cancelled');
  });

  it('cancel comes first and rolls back, so the settle goes through', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    const settling = settleAs(database, subject.job, SUCCESS);
    await untilBlocked(database);
    await link.rollback();
    expect(await settling).toHaveLength(1);
    expect(await stateOf(subject)).toBe('succeeded');
  });
});

describe('settle and the reaper', () => {
  /** A claim whose worker was declared dead, as the reaper sees it. */
  const orphan = async () => {
    const subject = await owned();
    const dead = `update longshore.worker set dead_at = now() where instance = $1`;
    await database.sql(dead, [subject.worker]);
    const orphans = await findOrphans(database.db, 0, 1_000);
    expect(orphans.map((row) => row.id)).toContain(subject.id);
    return subject;
  };

  it('the worker comes first and wins; the reaper brings nothing back', async () => {
    const subject = await orphan();
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, SUCCESS);
    const reaping = settleAs(database, subject.job, LOST);
    await untilBlocked(database);
    await link.commit();
    expect(await reaping).toEqual([]);
    expect(await stateOf(subject)).toBe('succeeded');
    expect((await findOrphans(database.db, 0, 1_000)).map((row) => row.id)).not.toContain(
      subject.id,
    );
  });

  it('the reaper comes first and wins; the worker learns that it is stale', async () => {
    const subject = await orphan();
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, LOST);
    const settling = settleAs(database, subject.job, SUCCESS);
    await untilBlocked(database);
    await link.commit();
    expect(await settling).toEqual([]);
    expect(await lookAt(database, subject)).toMatchObject({ state: 'queued', attempts: 1 });
    const status = await settlementStatusOf(database.db, 0, subject.id, subject.job.claim);
    expect(status).toEqual({ kind: 'stale' });
  });

  it('two reapers bring a job back once', async () => {
    const subject = await orphan();
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, LOST);
    const second = settleAs(database, subject.job, LOST);
    await untilBlocked(database);
    await link.commit();
    expect(await second).toEqual([]);
    const tried = 'select claim_no from longshore.attempt where job_id = $1';
    expect(await database.sql(tried, [subject.id])).toEqual([{ claim_no: 1 }]);
  });

  it('a claim that commits after its worker was declared dead is still found', async () => {
    const subject = await reachState(database, 'queued');
    const link = await HeldLink.begin(database);
    expect(await claimSubject({ db: link }, subject)).toHaveLength(1);
    const expire = `update longshore.worker set lease_until = now() - interval '1 s'
      where instance = $1`;
    await database.sql(expire, [subject.worker]);
    const buried = await buryWorkers(database.db, 0);
    expect(buried.map((worker) => worker.instance)).toContain(subject.worker);
    await link.commit();
    const orphans = await findOrphans(database.db, 0, 1_000);
    expect(orphans.map((row) => row.id)).toContain(subject.id);
  });
});

describe('settle and what takes the job next', () => {
  it('a claim does not see a recovered job before the commit', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, LOST);
    expect(await claimSubject(database, subject)).toEqual([]);
    await link.commit();
    expect(await claimSubject(database, subject)).toMatchObject([{ claim: 2, attempts: 2 }]);
  });

  it('the promoter does not see a retry until it is committed, then promotes it once', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, failure('HANDLER_ERROR', 'boom', 0));
    await promote(database.db, 0, 1_000);
    await link.commit();
    expect(await stateOf(subject)).toBe('retrying');
    await promote(database.db, 0, 1_000);
    expect(await stateOf(subject)).toBe('queued');
  });

  it('an outcome that is sent again while its retry is promoted changes nothing', async () => {
    const subject = await owned();
    await settleAs(database, subject.job, failure('HANDLER_ERROR', 'boom', 0));
    const link = await HeldLink.begin(database);
    expect((await promote(link, 0, 1_000)).promoted).toBeGreaterThan(0);
    expect(await settleAs(database, subject.job, SUCCESS)).toEqual([]);
    const status = await settlementStatusOf(database.db, 0, subject.id, subject.job.claim);
    expect(status).toEqual({ kind: 'settled' });
    await link.commit();
    expect(await stateOf(subject)).toBe('queued');
  });
});

describe('cancel and the reaper', () => {
  it('cancel comes first: the reaper looks again and ends it as cancelled', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    const reaping = settleAs(database, subject.job, LOST);
    await untilBlocked(database);
    await link.commit();
    expect(await reaping).toEqual([]);
    expect(await settleAs(database, subject.job, LOST, 'cancelling')).toHaveLength(1);
    expect(await stateOf(subject)).toBe('cancelled');
  });

  it.each([
    ['commits', 'cancelled'],
    ['rolls back', 'cancelling'],
  ])('the reaper comes first and %s: what is cancelled is %s', async (end, state) => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, LOST);
    const cancelling = cancel(subject);
    await untilBlocked(database);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await cancelling).toEqual({ kind: 'changed', status: state });
    expect(await stateOf(subject)).toBe(state);
  });
});

describe('cancel and cancel', () => {
  it('of a running job: both learn that it stops, and the first one counts', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    const second = cancel(subject);
    await untilBlocked(database);
    const [now] = await database.sql<{ at: string }>('select clock_timestamp()::text as at');
    await link.commit();
    expect(await second).toEqual({ kind: 'changed', status: 'cancelling' });
    const asked = 'select from longshore.running where id = $1 and cancel_requested_at < $2';
    expect(await database.sql(asked, [subject.id, now?.at])).toHaveLength(1);
  });
});

describe('settle and progress', () => {
  const progressOf = async (table: string, { id }: Subject) =>
    await database.sql(`select progress_fraction as f from longshore.${table} where id = $1`, [id]);

  it.each(['progress', 'settle'])('%s comes first', async (first) => {
    const subject = await owned();
    const { id, claim } = subject.job;
    const updates = [{ id, claim, fraction: 0.5, message: null }];
    const link = await HeldLink.begin(database);
    if (first === 'progress') await saveProgress(link, 0, updates);
    else await settleAs({ db: link }, subject.job, SUCCESS);
    const other =
      first === 'progress'
        ? settleAs(database, subject.job, SUCCESS)
        : saveProgress(database.db, 0, updates);
    await untilBlocked(database);
    await link.commit();
    await other;
    expect(await progressOf('done', subject)).toEqual([{ f: first === 'progress' ? 0.5 : null }]);
  });
});

describe('heartbeat and burial', () => {
  /** A worker whose lease has just expired, and that no reaper has declared dead yet. */
  const late = async () => await newWorker(database, -1_000);
  const bury = async () => (await buryWorkers(database.db, 0)).map((worker) => worker.instance);

  it('a renewal that commits first wins', async () => {
    const worker = await late();
    const link = await HeldLink.begin(database);
    expect(await heartbeat(link, 0, worker, 60_000)).toMatchObject({ alive: true });
    const burying = bury();
    await untilBlocked(database);
    await link.commit();
    expect(await burying).not.toContain(worker);
    expect(await heartbeat(database.db, 0, worker, 60_000)).toMatchObject({ alive: true });
  });

  it('a declaration of death that commits first wins, and heartbeats report it from then on', async () => {
    const worker = await late();
    const link = await HeldLink.begin(database);
    const buried = await buryWorkers(link, 0);
    expect(buried.map(({ instance }) => instance)).toContain(worker);
    const beating = heartbeat(database.db, 0, worker, 60_000);
    await untilBlocked(database);
    await link.commit();
    expect(await beating).toMatchObject({ alive: false });
    expect(await heartbeat(database.db, 0, worker, 60_000)).toMatchObject({ alive: false });
  });
});

describe('two batches over the same jobs', () => {
  it('settle in opposite orders without a deadlock', async () => {
    const jobs = [await owned(), await owned(), await owned()].map(({ job }) => job);
    const batch = jobs.map(success);
    // The job in the middle is locked, so that each of them stops there with its first one taken.
    const middle = jobs.slice(1, 2).map(({ id, claim }) => ({ id, claim }));
    const link = await HeldLink.begin(database);
    await saveProgress(
      link,
      0,
      middle.map((job) => ({ ...job, fraction: 0.5, message: null })),
    );
    const both = [settle(database.db, 0, batch), settle(database.db, 0, batch.toReversed())];
    await untilBlocked(database, 2);
    await link.commit();
    const settled = await Promise.all(both);
    expect(settled.map((rows) => rows.length)).toEqual(expect.arrayContaining([0, 3]));
  });
});
