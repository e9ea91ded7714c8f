import { describe, expect, it } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { fingerprintOf } from '../../../src/core/failure/fingerprint.ts';
import type { RetryRequest } from '../../../src/core/failure/retry.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { writeEvents } from '../../../src/store/attempt/events.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { writeLogChunks } from '../../../src/store/attempt/log-chunks.ts';
import { readAttempts } from '../../../src/store/read/read-attempts.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { loadSteps, saveStep } from '../../../src/store/attempt/steps.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { claimAny, failure, settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  claimSubject,
  reachOwned,
  reachState,
  type Subject,
} from '../../support/checks/reach-state.ts';
import { allEvents, chunk, Follower, publishHooks, saidBy } from '../../support/history.ts';

const database = sharedDatabase();

const NOW: RetryRequest = { mode: 'now', runAt: null, paramsJson: null };

const retry = async ({ id }: Subject, changes: Partial<RetryRequest> = {}) =>
  await retryJob(database.db, 'default', id, { ...NOW, ...changes });

const view = async ({ id }: Subject) => await getJob(database.db, 'default', id);

const history = async ({ id }: Subject) =>
  (await allEvents(database, id)).map(({ type, attempt }) =>
    attempt === null ? type : `${type} ${attempt}`,
  );

/** A dead letter that has used up its attempts and saved what it had done. */
const deadLetter = async () => {
  const subject = await reachOwned(database, 1);
  const { id, claim } = subject.job;
  await saveStep(database.db, 0, { id, claim, name: 'paid', valueJson: '1' });
  await saveStep(database.db, 0, { id, claim, name: null, valueJson: '2' });
  await writeEvents(database.db, 0, [saidBy(subject.job, 0)]);
  await writeLogChunks(database.db, 0, [chunk(subject.job, 0, ['hello'])]);
  await settleAs(database, subject.job, failure('HANDLER_ERROR', 'order 7 is broken'));
  return subject;
};

describe('a retry by hand', () => {
  it('gives one more attempt, keeps what was saved, and leaves the old outcome to be read', async () => {
    const subject = await deadLetter();
    expect(await retry(subject)).toEqual({ kind: 'changed', status: 'queued' });
    const job = await view(subject);
    expect(job).toMatchObject({ attempts: 1, maxAttempts: 2, finishedAt: null });
    expect(job?.error).toMatchObject({ code: 'HANDLER_ERROR' });
    const [again] = await claimSubject(database, subject);
    expect(again).toMatchObject({ attempts: 2, claim: 3 });
    const saved = { checkpointJson: '2', steps: [{ name: 'paid', valueJson: '1' }] };
    expect(await loadSteps(database.db, 0, subject.id)).toMatchObject(saved);
    if (again) await settleAs(database, again, SUCCESS);
    expect(await history(subject)).toEqual([
      'created',
      'queued',
      'started 1',
      'custom 1',
      'failed 1',
      'retry_scheduled',
      'queued',
      'started 2',
      'succeeded 2',
    ]);
    const attempts = await readAttempts(database.db, 'default', subject.id);
    expect(attempts?.map(({ number, claim, error }) => [number, claim, error?.code])).toEqual([
      [1, 1, 'HANDLER_ERROR'],
      [2, 3, undefined],
    ]);
  });

  it('that resets starts over: no attempts, no steps, no checkpoint', async () => {
    const subject = await deadLetter();
    expect(await retry(subject, { mode: 'reset' })).toMatchObject({ status: 'queued' });
    expect(await view(subject)).toMatchObject({ attempts: 0, maxAttempts: 1 });
    const nothing = { checkpointJson: null, steps: [] };
    expect(await loadSteps(database.db, 0, subject.id)).toEqual(nothing);
    expect((await claimSubject(database, subject))[0]).toMatchObject({ attempts: 1, claim: 3 });
  });

  it('takes no attempt away from a job that has some left', async () => {
    const subject = await reachState(database, 'failed', 3);
    await retry(subject);
    expect(await view(subject)).toMatchObject({ attempts: 1, maxAttempts: 3 });
  });

  it('waits until the time it is given, or at once if that is over', async () => {
    const runAt = new Date('2100-01-01T00:00:00Z');
    const subject = await reachState(database, 'cancelled');
    expect(await retry(subject, { mode: 'later', runAt })).toMatchObject({ status: 'scheduled' });
    expect(await view(subject)).toMatchObject({ status: 'scheduled', runAt: runAt.toISOString() });
    const other = await reachState(database, 'failed');
    const past = await retry(other, { mode: 'later', runAt: new Date(0) });
    expect(past).toMatchObject({ status: 'queued' });
  });

  it('waits for the backoff of its own policy, of its definition, or the usual one', async () => {
    const waitedMs = async (subject: Subject) => {
      await retry(subject, { mode: 'later' });
      const [row] = await database.sql<{ ms: number }>(
        `select (extract(epoch from w.run_at - (a.retried ->> 'at')::timestamptz) * 1000)::float8 as ms
         from longshore.waiting w join longshore.attempt a on a.job_id = w.id where w.id = $1`,
        [subject.id],
      );
      return row?.ms ?? 0;
    };
    const usual = await waitedMs(await reachState(database, 'failed'));
    expect(usual).toBeGreaterThanOrEqual(900);
    expect(usual).toBeLessThanOrEqual(1_100);
    const subject = await reachState(database, 'failed');
    const key = `key-${subject.worker}`;
    const rules = { key, retry: { delaysMs: [70_000], jitter: 0 } };
    await publishDefinitions(database.db, [
      definitionInfo(rules, { paramsSchema: null, hooks: [] }),
    ]);
    expect(await waitedMs(subject)).toBe(70_000);
    const own = await reachState(database, 'failed');
    const policy = JSON.stringify({ retry: { delaysMs: [90_000], jitter: 0 } });
    await database.sql('update longshore.job set policy = $2 where id = $1', [own.id, policy]);
    expect(await waitedMs(own)).toBe(90_000);
  });

  it('may bring other params, and keeps the old ones', async () => {
    const subject = await deadLetter();
    await retry(subject, { paramsJson: '{"order":8}' });
    expect(await view(subject)).toMatchObject({ params: { order: 8 } });
    const events = await allEvents(database, subject.id);
    const { payload } = events.find(({ type }) => type === 'retry_scheduled') ?? {};
    expect(payload).toEqual({ mode: 'now', runAt: null, paramsBefore: {} });
    expect((await claimSubject(database, subject))[0]?.paramsJson).toBe('{"order":8}');
  });

  it('of a job that never ran shows its end in the history, but as no attempt', async () => {
    const subject = await reachState(database, 'queued');
    const follower = new Follower(database, subject.id);
    await cancelJob(database.db, 'default', subject.id);
    expect(await follower.look()).toEqual(['created', 'queued', 'cancel_requested', 'cancelled']);
    expect(follower.ended).toBe(true);
    await retry(subject);
    expect(await follower.look()).toEqual(['retry_scheduled', 'queued']);
    await cancelJob(database.db, 'default', subject.id);
    expect(await follower.look()).toEqual(['cancel_requested', 'cancelled']);
    expect(new Set(follower.events.map(({ id }) => id)).size).toBe(follower.events.length);
    expect(await readAttempts(database.db, 'default', subject.id)).toEqual([]);
    expect((await allEvents(database, subject.id)).map(({ id }) => id)).toEqual(
      follower.events.map(({ id }) => id),
    );
  });

  it('of a job that was cancelled before it began does the same', async () => {
    const subject = await reachOwned(database);
    await cancelJob(database.db, 'default', subject.id);
    await settleAs(database, subject.job, { kind: 'unstarted' }, 'cancelling');
    const before = ['created', 'queued', 'cancel_requested', 'cancelled'];
    expect(await history(subject)).toEqual(before);
    await retry(subject);
    expect(await history(subject)).toEqual([...before, 'retry_scheduled', 'queued']);
    expect(await readAttempts(database.db, 'default', subject.id)).toEqual([]);
  });

  it('lets the hooks run again at its next end', async () => {
    const subject = await reachState(database, 'queued');
    await publishHooks(database, `key-${subject.worker}`, ['onEnd']);
    for (const mode of ['now', 'reset'] as const) {
      const [job] = await claimSubject(database, subject);
      if (job) await settleAs(database, job, failure('NON_RETRYABLE'));
      for (const hook of await claimAny(database, subject.worker, 10)) {
        if (hook.id !== subject.id) await settleAs(database, hook, SUCCESS);
      }
      await retry(subject, { mode });
    }
    const types = await history(subject);
    expect(types.filter((type) => type === 'hook')).toHaveLength(2);
    expect(types.lastIndexOf('hook')).toBe(types.lastIndexOf('retry_scheduled') - 1);
  });

  it('leaves a claim that settled the job before none the wiser', async () => {
    const subject = await deadLetter();
    await retry(subject);
    expect(await settleAs(database, subject.job, SUCCESS)).toEqual([]);
    expect(await view(subject)).toMatchObject({ status: 'queued' });
  });

  it('is refused to another tenant, and for what is no job', async () => {
    const { id } = await reachState(database, 'failed');
    expect(await retryJob(database.db, 'other', id, NOW)).toEqual({ kind: 'missing' });
    expect(await retryJob(database.db, 'default', 'x', NOW)).toEqual({ kind: 'missing' });
  });
});

describe('a fingerprint', () => {
  it('is stored with the outcome and with each attempt that failed', async () => {
    const subject = await reachOwned(database, 2);
    const error = { code: 'TIMEOUT', message: 'order 1', stack: null, cause: null };
    await settleAs(database, subject.job, { kind: 'failure', error, retryAfterMs: null });
    await database.sql('update longshore.waiting set run_at = now() where id = $1', [subject.id]);
    await database.sql(
      `update longshore.waiting set state = 'queued', seq = 1, queued_at = now() where id = $1`,
      [subject.id],
    );
    const [again] = await claimSubject(database, subject);
    const other = { ...error, message: 'order 2' };
    if (again) {
      await settleAs(database, again, { kind: 'failure', error: other, retryAfterMs: null });
    }
    const rows = await database.sql(
      `select fingerprint from longshore.attempt where job_id = $1
       union all select fingerprint from longshore.done where id = $1`,
      [subject.id],
    );
    const fingerprint = fingerprintOf(error);
    expect(rows).toEqual([{ fingerprint }, { fingerprint }, { fingerprint }]);
  });
});

describe('a delete', () => {
  it('leaves nothing of the job but the news of it', async () => {
    const subject = await deadLetter();
    expect(await deleteJob(database.db, 'other', subject.id)).toEqual({ kind: 'missing' });
    const deleted = await deleteJob(database.db, 'default', subject.id);
    expect(deleted).toEqual({ kind: 'changed', status: 'failed' });
    for (const table of ['job', 'done', 'attempt', 'event', 'log_chunk', 'step', 'stream_chunk']) {
      const column = table === 'job' || table === 'done' ? 'id' : 'job_id';
      const left = await database.sql(`select from longshore.${table} where ${column} = $1`, [
        subject.id,
      ]);
      expect(left, table).toEqual([]);
    }
    const revived = await database.sql('select from longshore.revived where id = $1', [subject.id]);
    expect(revived).toHaveLength(1);
    expect(await deleteJob(database.db, 'default', subject.id)).toEqual({ kind: 'missing' });
  });
});
