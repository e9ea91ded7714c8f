import { beforeEach, describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES } from '../../../src/core/job/lifecycle.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import type { ClaimedJob, ClaimLevel } from '../../../src/store/claim/claim.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { settlementStatusOf } from '../../../src/store/claim/settlement-status.ts';
import {
  settleAndClaim,
  type SettleAndClaimResult,
} from '../../../src/store/claim/settle-and-claim.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  claimSubject,
  lookAt,
  reachState,
  type Subject,
} from '../../support/checks/reach-state.ts';
import { deliveriesOf, newWebhook } from '../../support/webhooks.ts';

/**
 * A turn has no lock for its fence: it finds its rows first and sees what became of them when it
 * deletes them. So each side that can move an owned job meanwhile is tried, in both orders.
 */
const database = sharedDatabase();

const LOST = { kind: 'lost', message: 'gone' } as const;

type Owned = Subject & { job: ClaimedJob };

const owned = async (): Promise<Owned> => {
  const subject = await reachState(database, 'running');
  if (!subject.job) throw new Error('not claimed');
  return { ...subject, job: subject.job };
};

const stateOf = async (subject: Subject) => (await lookAt(database, subject)).state;

/** No job is in these levels. Several levels have no short form (`store/claim/few.ts`). */
const NO_JOBS = [1, 2].map((rank) => ({ queue: 1, rank, floor: 0, attempts: 1 }));
let levels: ClaimLevel[] = [];

const turn = async (
  { job, worker }: Owned,
  db: Queryable = database.db,
): Promise<SettleAndClaimResult> => {
  const transition = decide({ ...job, ...DEFAULT_RULES, state: 'running' }, SUCCESS, 0.5);
  const settlement = { ...job, was: 'running' as const, transition, usage: NO_USAGE };
  return await settleAndClaim(db, 0, {
    settlements: [settlement],
    limit: 1,
    instance: worker,
    levels,
  });
};

const ALL = { settled: null, jobs: [] };
const NOTHING = { settled: new Set(), jobs: [] };

describe.each([
  ['few', []],
  ['many', NO_JOBS],
])('in the form for %s jobs', (_form, asked) => {
  beforeEach(() => {
    levels = asked;
  });

  describe('turn and cancel', () => {
    it.each([
      ['commits', NOTHING, 'cancelling'],
      ['rolls back', ALL, 'succeeded'],
    ])('cancel comes first and %s', async (end, answer, state) => {
      const subject = await owned();
      const link = await HeldLink.begin(database);
      await cancelJob(link, 'default', subject.id);
      const turning = turn(subject);
      await untilBlocked(database);
      await (end === 'commits' ? link.commit() : link.rollback());
      expect(await turning).toEqual(answer);
      expect(await stateOf(subject)).toBe(state);
    });

    it.each([
      ['commits', { kind: 'refused', status: 'succeeded' }],
      ['rolls back', { kind: 'changed', status: 'cancelling' }],
    ])('turn comes first and %s', async (end, answer) => {
      const subject = await owned();
      const link = await HeldLink.begin(database);
      expect(await turn(subject, link)).toEqual(ALL);
      const cancelling = cancelJob(database.db, 'default', subject.id);
      await untilBlocked(database);
      await (end === 'commits' ? link.commit() : link.rollback());
      expect(await cancelling).toEqual(answer);
      expect(await stateOf(subject)).toBe(answer.status);
    });
  });

  describe('turn and the reaper', () => {
    it.each([
      ['commits', NOTHING, 'queued'],
      ['rolls back', ALL, 'succeeded'],
    ])('the reaper comes first and %s', async (end, answer, state) => {
      const subject = await owned();
      const link = await HeldLink.begin(database);
      await settleAs({ db: link }, subject.job, LOST);
      const turning = turn(subject);
      await untilBlocked(database);
      await (end === 'commits' ? link.commit() : link.rollback());
      expect(await turning).toEqual(answer);
      expect(await stateOf(subject)).toBe(state);
    });

    it('the reaper comes first and the job is claimed anew: the new claim is not touched', async () => {
      const subject = await owned();
      const link = await HeldLink.begin(database);
      await settleAs({ db: link }, subject.job, LOST);
      expect(await claimSubject({ db: link }, subject)).toMatchObject([{ claim: 2 }]);
      const turning = turn(subject);
      await untilBlocked(database);
      await link.commit();
      expect(await turning).toEqual(NOTHING);
      expect(await lookAt(database, subject)).toMatchObject({ state: 'running', claim_no: 2 });
      const status = await settlementStatusOf(database.db, 0, subject.id, subject.job.claim);
      expect(status).toEqual({ kind: 'stale' });
    });

    it('the turn comes first, and the reaper brings nothing back', async () => {
      const subject = await owned();
      const link = await HeldLink.begin(database);
      await turn(subject, link);
      const reaping = settleAs(database, subject.job, LOST);
      await untilBlocked(database);
      await link.commit();
      expect(await reaping).toEqual([]);
      expect(await stateOf(subject)).toBe('succeeded');
    });
  });

  describe('turn and turn', () => {
    it('write an outcome that was sent twice once, and the second learns that it is written', async () => {
      const subject = await owned();
      const link = await HeldLink.begin(database);
      expect(await turn(subject, link)).toEqual(ALL);
      const second = turn(subject);
      await untilBlocked(database);
      await link.commit();
      expect(await second).toEqual(NOTHING);
      const status = await settlementStatusOf(database.db, 0, subject.id, subject.job.claim);
      expect(status).toEqual({ kind: 'settled' });
    });
  });

  it('a webhook that is made during settleAndClaim gets the events that follow, not those of that statement', async () => {
    const [subject, next] = [await owned(), await owned()];
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    const turning = turn(subject);
    await untilBlocked(database);
    const webhook = await newWebhook(database, {});
    await link.rollback();
    expect(await turning).toEqual(ALL);
    expect(await turn(next)).toEqual(NOTHING);
    await settleAs(database, next.job, SUCCESS);
    const deliveries = await deliveriesOf(database, webhook);
    expect(deliveries.map(({ params }) => params['jobId'])).toEqual([next.id]);
    await database.sql('delete from longshore.webhook');
    await database.sql('update longshore.queue set subscribed_states = null');
  });
});
