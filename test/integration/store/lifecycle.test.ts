import { describe, expect, it } from 'vitest';
import { isTerminal, JOB_STATES, type JobState, NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES, type Outcome } from '../../../src/core/job/lifecycle.ts';
import type { OnParentFailure } from '../../../src/core/dependency/dependency.ts';
import { TRANSITIONS } from '../../../src/core/job/transitions.ts';
import { mayBeRetried, RETRY_MODES } from '../../../src/core/failure/retry.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { expireJobs } from '../../../src/store/claim/expire.ts';
import { resolveEnded } from '../../../src/store/edges/resolve-ended.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { signalJob } from '../../../src/store/change/signal-job.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { settlementStatusOf } from '../../../src/store/claim/settlement-status.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { BUILT_MOVES } from '../../support/checks/built-moves.ts';
import { postgresVersions, sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne, failure, loseLease, settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  claimSubject,
  lookAt,
  type NarrowRow,
  reachState,
  type Subject,
} from '../../support/checks/reach-state.ts';
import { expectTrueCounters } from '../../support/checks/counters.ts';

/** How an attempt can end; on its last attempt, or interrupted as often as it may be. */
const OUTCOMES: [name: string, outcome: Outcome, arrange?: 'last' | 'worn'][] = [
  ['success', SUCCESS],
  ['retryable failure', failure('HANDLER_ERROR')],
  ['failure that says when', failure('RATE_LIMITED', 'slow down', 120_000)],
  ['failure of the last attempt', failure('HANDLER_ERROR'), 'last'],
  ['failure for good', failure('NON_RETRYABLE')],
  ['failure by stale params', failure('PAYLOAD_INVALID')],
  ['lost lease', { kind: 'lost', message: 'gone' }],
  ['lost lease of the last attempt', { kind: 'lost', message: 'gone' }, 'last'],
  ['interruption', { kind: 'interrupted', message: 'deploy' }],
  ['interruption too many', { kind: 'interrupted', message: 'deploy' }, 'worn'],
  ['snooze', { kind: 'snoozed', delayMs: 90_000 }],
  ['wait', { kind: 'suspended', signal: 'go', timeoutMs: 90_000 }],
];

const TABLES = {
  waiting: 'id',
  running: 'id',
  done: 'id',
  job: 'id',
  attempt: 'job_id',
  event: 'job_id',
  log_chunk: 'job_id',
  stream_chunk: 'job_id',
  step: 'job_id',
  edge: 'job_id',
};

describe.each(postgresVersions())('every event in every state on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });
  const seen = new Set<string>();

  const arrange = async (state: JobState, how?: 'last' | 'worn') => {
    const owned = state === 'running' || state === 'cancelling';
    const subject = await reachState(
      database,
      state,
      how === 'last' && state !== 'retrying' ? 1 : 3,
    );
    if (how === 'worn') {
      const { maxInterruptions } = DEFAULT_RULES;
      const values = [maxInterruptions, subject.id];
      await database.sql('update longshore.running set interruptions = $1 where id = $2', values);
      if (subject.job && owned) subject.job.interruptions = maxInterruptions;
    }
    return { subject, owned, before: await lookAt(database, subject) };
  };

  /** The event made one of the moves that the table has for it; or none, and it has none. */
  const expectByTable = async (subject: Subject, before: NarrowRow, why: RegExp) => {
    const { state: from } = before;
    const legal = TRANSITIONS.filter((move) => move.from === from && why.test(move.why));
    const after = await lookAt(database, subject);
    if (legal.length === 0) expect(after).toEqual(before);
    else expect(legal.map(({ to }) => to)).toContain(after.state);
    if (legal.length > 0) seen.add(`${from} -> ${after.state}`);
    return after;
  };

  /** The database has what the pure function says, to the letter; or the job had no owner. */
  const expectDecision = async (subject: Subject, before: NarrowRow, outcome: Outcome) => {
    const after = await lookAt(database, subject);
    const { state, attempts, max_attempts: maxAttempts, interruptions } = before;
    if (state !== 'running' && state !== 'cancelling') {
      expect(after).toEqual(before);
      return;
    }
    const job = { ...DEFAULT_RULES, state, attempts, maxAttempts, interruptions };
    const decided = decide(job, outcome, 0.5);
    seen.add(`${state} -> ${decided.to}`);
    expect(after).toEqual({
      ...before,
      state: decided.to,
      attempts: attempts - (decided.attemptRefunded ? 1 : 0),
      interruptions: interruptions + (decided.interrupted ? 1 : 0),
    });
    const tried = await database.sql(
      `select a.error_code, (extract(epoch from w.run_at - a.finished_at) * 1000)::float8 as delay
       from longshore.attempt a left join longshore.waiting w on w.id = a.job_id
       where a.job_id = $1 and a.claim_no = $2`,
      [subject.id, before.claim_no],
    );
    const waits = ['retrying', 'scheduled', 'suspended'].includes(decided.to);
    const trace = {
      error_code: decided.error?.code ?? null,
      delay: waits ? decided.delayMs : null,
    };
    expect(tried).toEqual(decided.to === 'succeeded' ? [] : [trace]);
  };

  /** The tables that have anything about a job. */
  const everythingOf = async ({ id }: Subject) => {
    const found: string[] = [];
    for (const [table, column] of Object.entries(TABLES)) {
      const rows = await database.sql(`select from longshore.${table} where ${column} = $1`, [id]);
      if (rows.length > 0) found.push(table);
    }
    return found;
  };

  describe.each(JOB_STATES)('%s', (from) => {
    it('answers a release as the table says', async () => {
      const { subject, before } = await arrange(from);
      const answer = await releaseJob(database.db, 'default', subject.id);
      const { state } = await expectByTable(subject, before, /^released/);
      expect(answer).toEqual({ kind: from === 'created' ? 'changed' : 'refused', status: state });
    });

    it('answers a release with a later time as the table says', async () => {
      const { subject, before } = await arrange(from);
      const later = `update longshore.waiting set run_at = now() + interval '1 hour'
        where id = $1 and state = 'created'`;
      await database.sql(later, [subject.id]);
      await releaseJob(database.db, 'default', subject.id);
      await expectByTable(subject, before, /^released/);
    });

    it('answers a cancel as the table says', async () => {
      const { subject, before } = await arrange(from);
      const answer = await cancelJob(database.db, 'default', subject.id);
      const { state } = await expectByTable(subject, before, /^cancel/);
      expect(answer).toEqual({ kind: isTerminal(from) ? 'refused' : 'changed', status: state });
    });

    it.each(RETRY_MODES)('answers a retry %s as the table says', async (mode) => {
      const { subject, before } = await arrange(from, 'last');
      const retryRequest = { mode, runAt: null, paramsJson: null };
      const answer = await retryJob(database.db, 'default', subject.id, retryRequest);
      const why = mode === 'later' ? /^retried by hand, later/ : /^retried by hand$/;
      const { state, ...after } = await expectByTable(subject, before, why);
      expect(answer).toEqual({ kind: mayBeRetried(from) ? 'changed' : 'refused', status: state });
      if (!mayBeRetried(from)) return;
      const { attempts, max_attempts: max, claim_no: claim } = before;
      expect(after).toEqual({
        attempts: mode === 'reset' ? 0 : attempts,
        max_attempts: mode === 'reset' ? max : Math.max(max, attempts + 1),
        claim_no: claim + 1,
        interruptions: 0,
      });
    });

    it('answers a delete as the table says', async () => {
      const { subject, before } = await arrange(from);
      const answer = await deleteJob(database.db, 'default', subject.id);
      expect(answer).toEqual({ kind: isTerminal(from) ? 'changed' : 'refused', status: from });
      if (!isTerminal(from)) expect(await lookAt(database, subject)).toEqual(before);
      else expect(await everythingOf(subject)).toEqual([]);
    });

    it('answers a claim as the table says', async () => {
      const { subject, before } = await arrange(from);
      const jobs = await claimSubject(database, subject);
      const after = await expectByTable(subject, before, /^claimed/);
      const { attempts, claim_no: claim } = after;
      expect(jobs.map(({ id }) => id)).toEqual(from === 'queued' ? [subject.id] : []);
      if (from === 'queued') expect(jobs[0]).toMatchObject({ attempts, claim });
      const charged = from === 'queued' ? 1 : 0;
      expect([attempts, claim]).toEqual([before.attempts + charged, before.claim_no + charged]);
    });

    it('answers the promoter as the table says', async () => {
      const { subject, before } = await arrange(from);
      const due = `update longshore.waiting set run_at = now() - interval '1 minute'
        where id = $1 and state <> 'queued'`;
      await database.sql(due, [subject.id]);
      await promote(database.db, 0, 1_000);
      await expectByTable(subject, before, /its time has come|its backoff is over|timed out/);
    });

    it('answers a signal as the table says', async () => {
      const { subject, before } = await arrange(from);
      const answer = await signalJob(database.db, 'default', subject.id, {
        name: 'go',
        payloadJson: '1',
      });
      const { state } = await expectByTable(subject, before, /its signal arrived/);
      if (isTerminal(from)) expect(answer).toEqual({ kind: 'refused', status: state });
      else expect(answer).toEqual({ kind: 'stored', status: state, duplicate: false });
    });

    it('answers another signal than the one it waits for with no move', async () => {
      const { subject, before } = await arrange(from);
      const signal = { name: 'other', payloadJson: '1' };
      await signalJob(database.db, 'default', subject.id, signal);
      expect(await lookAt(database, subject)).toEqual(before);
    });

    it('answers its expiry as the table says', async () => {
      const { subject, before } = await arrange(from);
      const over = `update longshore.waiting set expires_at = now() - interval '1 s' where id = $1`;
      await database.sql(over, [subject.id]);
      await expireJobs(database.db, 0, 1_000);
      await expectByTable(subject, before, /expired/);
    });

    it('answers the reaper as decide() says', async () => {
      const { subject, before } = await arrange(from);
      await loseLease(database, subject.worker);
      await expectDecision(subject, before, { kind: 'lost', message: '' });
    });

    it.each(OUTCOMES)('answers a %s as decide() says', async (_, outcome, how) => {
      const { subject, owned, before } = await arrange(from, how);
      const { id } = subject;
      const job = subject.job ?? { ...unclaimed, id, queue: subject.queue };
      const was = from === 'cancelling' ? 'cancelling' : 'running';
      const settled = await settleAs(database, job, outcome, was);
      expect(settled.map((row) => row.id)).toEqual(owned ? [id] : []);
      await expectDecision(subject, before, outcome);
      // Sent once more it changes nothing, and its sender learns whether that was its own doing.
      const after = await lookAt(database, subject);
      expect(await settleAs(database, job, outcome, was)).toEqual([]);
      expect(await lookAt(database, subject)).toEqual(after);
      const reclaimed = outcome.kind === 'lost' && from === 'running';
      const kind = subject.job && !reclaimed ? 'settled' : 'stale';
      expect(await settlementStatusOf(database.db, 0, id, job.claim)).toEqual({ kind });
    });

    it('answers settleAndClaim as decide() says of a success', async () => {
      const { subject, before } = await arrange(from);
      const { id, worker: instance, job } = subject;
      const rules = { ...DEFAULT_RULES, state: 'running', maxAttempts: 3 } as const;
      const transition = decide({ ...before, ...rules }, SUCCESS, 0.5);
      const claim = job?.claim ?? 1;
      const settlements = [{ id, claim, was: 'running' as const, transition, usage: NO_USAGE }];
      const answer = await settleAndClaim(database.db, 0, {
        settlements,
        limit: 1,
        instance,
        levels: [],
      });
      expect(answer.settled).toEqual(from === 'running' ? null : new Set());
      const after = await lookAt(database, subject);
      expect(after).toEqual(from === 'running' ? { ...before, state: 'succeeded' } : before);
    });
  });

  describe('a job after another', () => {
    const child = async (onFailure: OnParentFailure) => {
      const parent = await reachState(database, 'running');
      const id = await enqueueOne(database, { after: { jobs: [parent.id], onFailure } });
      const subject = { ...parent, id };
      return { parent, subject, before: await lookAt(database, subject) };
    };
    const again = { mode: 'now', runAt: null, paramsJson: null } as const;

    it.each<[Outcome, OnParentFailure, JobState]>([
      [SUCCESS, 'fail', 'queued'],
      [failure('NOT_FOUND'), 'run', 'queued'],
      [failure('NOT_FOUND'), 'fail', 'failed'],
      [failure('NOT_FOUND'), 'cancel', 'cancelled'],
    ])('moves on when its parent ends', async (outcome, onFailure, state) => {
      const { parent, subject, before } = await child(onFailure);
      expect(before.state).toBe('suspended');
      await resolveEnded(database.db, 0, 100);
      expect(await lookAt(database, subject)).toEqual(before);
      if (parent.job) await settleAs(database, parent.job, outcome);
      await resolveEnded(database.db, 0, 100);
      expect((await expectByTable(subject, before, /parent/)).state).toBe(state);
      await resolveEnded(database.db, 0, 100);
      expect((await lookAt(database, subject)).state).toBe(state);
    });

    it('waits again when its failed parent is retried', async () => {
      const { parent, subject } = await child('fail');
      if (parent.job) await settleAs(database, parent.job, failure('NOT_FOUND'));
      await resolveEnded(database.db, 0, 100);
      const before = await lookAt(database, subject);
      await retryJob(database.db, 'default', parent.id, again);
      const after = await expectByTable(subject, before, /^retried with its parent/);
      expect(after.state).toBe('suspended');
    });

    it('waits again when it is retried while its parent is open', async () => {
      const { subject } = await child('fail');
      await cancelJob(database.db, 'default', subject.id);
      const before = await lookAt(database, subject);
      await retryJob(database.db, 'default', subject.id, again);
      const after = await expectByTable(subject, before, /^retried by hand, parents/);
      expect(after.state).toBe('suspended');
    });
  });

  it('has seen every move of the table that is built', () => {
    expect([...seen].sort()).toEqual([...BUILT_MOVES].sort());
  });

  it('has counted every move', async () => {
    await expectTrueCounters(database);
  });
});

/** What a claim that never was would say of a job. */
const unclaimed = {
  rank: 0,
  seq: 0,
  attempts: 1,
  maxAttempts: 3,
  claim: 1,
  interruptions: 0,
  paramsJson: '{}',
  policy: null,
  limited: false,
  watched: false,
  traceparent: null,
  waitedMs: null,
};
