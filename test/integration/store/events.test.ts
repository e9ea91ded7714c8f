import { describe, expect, it } from 'vitest';
import { hookKey } from '../../../src/core/definition/hooks.ts';
import type { Outcome } from '../../../src/core/job/lifecycle.ts';
import { HOOKS } from '../../../src/core/views/history.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim, type ClaimedJob } from '../../../src/store/claim/claim.ts';
import { writeEvents } from '../../../src/store/attempt/events.ts';
import { servedQueues } from '../../../src/store/enqueue/queues.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { readAttempts } from '../../../src/store/read/read-attempts.ts';
import { isEventId, readEvents } from '../../../src/store/read/read-events.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { postgresVersions, sharedDatabase } from '../../support/servers/database.ts';
import { failure, loseLease, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  claimSubject,
  reachOwned,
  reachState,
  type Subject,
} from '../../support/checks/reach-state.ts';
import { allEvents, Follower, publishHooks, saidBy } from '../../support/history.ts';

describe.each(postgresVersions())('the history of a job on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });

  const claimed = async (subject: Subject): Promise<ClaimedJob> => {
    const [job] = await claimSubject(database, subject);
    if (!job) throw new Error('not claimed');
    return job;
  };

  const say = async (job: ClaimedJob, n: number, type: 'custom' | 'progress' = 'custom') =>
    await writeEvents(database.db, 0, [{ ...saidBy(job, n, `{"n":${n}}`), type }]);

  /** Its time has come. */
  const comeDue = async ({ id }: Subject) => {
    const due = `update longshore.waiting set run_at = now() - interval '1 s' where id = $1`;
    await database.sql(due, [id]);
    await promote(database.db, 0, 1_000);
  };

  /** The worker of the job dies, and the reaper finds out. */
  const loseWorker = async (subject: Subject) => {
    await loseLease(database, subject.worker);
    subject.worker = await newWorker(database);
  };

  const typesOf = async (id: string) => (await allEvents(database, id)).map(({ type }) => type);

  it('is complete, live and afterwards, whatever happens to the job', async () => {
    const subject = await reachState(database, 'created', 5);
    await publishHooks(database, `key-${subject.worker}`, HOOKS);
    const definition = { key: hookKey(`key-${subject.worker}`), version: 1 };
    const live = new Follower(database, subject.id);
    expect(await live.look()).toEqual(['created']);

    await releaseJob(database.db, 'default', subject.id);
    expect(await live.look()).toEqual(['queued']);
    let job = await claimed(subject);
    expect(await live.look()).toEqual(['started']);
    await say(job, 0, 'progress');
    await say(job, 1);
    expect(await live.look()).toEqual(['progress', 'custom']);
    await settleAs(database, job, failure('TIMEOUT', 'too slow'));
    expect(await live.look()).toEqual(['retry_scheduled']);
    await comeDue(subject);
    expect(await live.look()).toEqual(['queued']);

    await claimed(subject);
    await loseWorker(subject);
    expect(await live.look()).toEqual(['started', 'lease_lost', 'queued']);

    job = await claimed(subject);
    await settleAs(database, job, { kind: 'interrupted', message: 'deploy' });
    expect(await live.look()).toEqual(['started', 'interrupted', 'queued']);

    job = await claimed(subject);
    await settleAs(database, job, { kind: 'snoozed', delayMs: 60_000 });
    expect(await live.look()).toEqual(['started', 'snoozed']);
    await comeDue(subject);

    job = await claimed(subject);
    await say(job, 0);
    expect(await live.look()).toEqual(['queued', 'started', 'custom']);
    await cancelJob(database.db, 'default', subject.id);
    await say(job, 1);
    expect(await live.look()).toEqual(['cancel_requested', 'custom']);
    expect(live.ended).toBe(false);
    await settleAs(database, job, SUCCESS, 'cancelling');
    expect(await live.look()).toEqual(['succeeded']);
    expect(live.ended).toBe(false);

    // The two hooks run, the second one first; the history lists them in their order.
    const hookQueues = await servedQueues(database.db, 0, [definition]);
    const lines = hookQueues.map(({ queue }) => ({ queue, rank: 0, floor: 0, attempts: 3 }));
    const [onSuccess, onEnd] = await claim(database.db, 0, 10, subject.worker, lines);
    if (!onSuccess || !onEnd) throw new Error('no hooks');
    await settleAs(database, onEnd, SUCCESS);
    expect(await live.look()).toEqual([]);
    await settleAs(database, onSuccess, failure('NOT_FOUND', 'hook broke'));
    expect(await live.look()).toEqual(['hook', 'hook']);
    expect(live.ended).toBe(true);
    expect(await live.look()).toEqual([]);

    const all = await allEvents(database, subject.id);
    expect(live.events).toEqual(all);
    for (const limit of [1, 2, 3, 7]) {
      expect(await allEvents(database, subject.id, limit)).toEqual(all);
    }
    for (const [index, { id }] of all.entries()) {
      expect(isEventId(id)).toBe(true);
      const page = { afterId: id, limit: 100 };
      const rest = await readEvents(database.db, 'default', subject.id, page);
      expect(rest?.events).toEqual(all.slice(index + 1));
    }
    const payloadOf = (type: string) => all.find((event) => event.type === type)?.payload;
    expect(payloadOf('retry_scheduled')).toMatchObject({
      error: { code: 'TIMEOUT', message: 'too slow' },
      runAt: expect.stringMatching(/Z$/),
    });
    expect(payloadOf('lease_lost')).toMatchObject({
      workerId: expect.any(String),
      message: expect.stringMatching(/^its worker .* \(pid \d+\) died: no heartbeat in time$/),
    });
    expect(payloadOf('snoozed')).toEqual({ runAt: expect.stringMatching(/Z$/) });
    expect(payloadOf('progress')).toEqual({ n: 0 });
    expect(all.slice(-2).map(({ payload }) => payload)).toEqual([
      {
        hook: 'onSuccess',
        status: 'failed',
        jobId: onSuccess.id,
        error: expect.objectContaining({ message: 'hook broke' }),
      },
      { hook: 'onEnd', status: 'succeeded', jobId: onEnd.id },
    ]);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => new Date(at).toISOString()));
    const started = all.filter(({ type }) => type === 'started').map(({ attempt }) => attempt);
    // An interruption and a snooze give the attempt back.
    expect(started).toEqual([1, 2, 3, 3, 3]);
  });

  const LAST: [how: string, outcome: Outcome, types: string[]][] = [
    ['fails for good', failure('NOT_FOUND'), ['failed']],
    ['fails in its last attempt', failure('TIMEOUT'), ['failed']],
    ['is lost in its last attempt', { kind: 'lost', message: 'gone' }, ['lease_lost', 'failed']],
    ['succeeds', SUCCESS, ['succeeded']],
  ];

  it.each(LAST)('ends when it %s', async (_, outcome, types) => {
    const { id, job } = await reachOwned(database, 1);
    const live = new Follower(database, id);
    await live.look();
    expect(live.ended).toBe(false);
    await settleAs(database, job, outcome);
    expect(await live.look()).toEqual(types);
    expect(live.ended).toBe(true);
    expect(live.events).toEqual(await allEvents(database, id));
    const last = live.events.at(-1);
    if (last?.type === 'failed') expect(last.payload).toHaveProperty('error.code');
  });

  it.each(['created', 'scheduled', 'queued', 'retrying'] as const)(
    'ends when it is cancelled while it is %s',
    async (state) => {
      const subject = await reachState(database, state);
      const live = new Follower(database, subject.id);
      await live.look();
      await cancelJob(database.db, 'default', subject.id);
      expect(await live.look()).toEqual(['cancel_requested', 'cancelled']);
      expect(live.ended).toBe(true);
      expect(live.events).toEqual(await allEvents(database, subject.id));
    },
  );

  it('ends when it is cancelled while it runs, also through a lost lease', async () => {
    const subject = await reachOwned(database);
    await cancelJob(database.db, 'default', subject.id);
    await loseWorker(subject);
    expect(await typesOf(subject.id)).toEqual([
      'created',
      'queued',
      'started',
      'cancel_requested',
      'cancelled',
    ]);
  });

  it('names the actor of a cancel, before it ran and while it ran, and still after a retry', async () => {
    const ann = { name: 'key:ann', address: null };
    const payloads = async (id: string) => {
      const page = await readEvents(database.db, 'default', id, { afterId: null, limit: 100 });
      return page?.events.flatMap(({ type, payload }) =>
        type === 'cancel_requested' ? [payload] : [],
      );
    };
    const waiting = await reachState(database, 'queued');
    await cancelJob(database.db, 'default', waiting.id, ann);
    expect(await payloads(waiting.id)).toEqual([{ by: 'key:ann' }]);
    const { id, job } = await reachOwned(database);
    await cancelJob(database.db, 'default', id, ann);
    await cancelJob(database.db, 'default', id, { ...ann, name: 'key:bob' });
    expect(await payloads(id)).toEqual([{ by: 'key:ann' }]);
    await settleAs(database, job, failure('HANDLER_ERROR', 'aborted'), 'cancelling');
    expect(await payloads(id)).toEqual([{ by: 'key:ann' }]);
    const [attempt] = (await readAttempts(database.db, 'default', id)) ?? [];
    expect(attempt).toMatchObject({ outcome: 'cancelled' });
    await retryJob(database.db, 'default', id, { mode: 'now', runAt: null, paramsJson: null });
    expect(await payloads(id)).toEqual([{ by: 'key:ann' }]);
  });

  it('goes on after a cancel with what is said then, however much was said before', async () => {
    const { id, job } = await reachOwned(database);
    const before = Array.from({ length: 20 }, (_, n) => saidBy(job, n));
    await writeEvents(database.db, 0, before);
    await cancelJob(database.db, 'default', id);
    await writeEvents(database.db, 0, [saidBy(job, 20), saidBy(job, 21)]);
    const all = await allEvents(database, id);
    expect(await allEvents(database, id, 2)).toEqual(all);
    const cancelled = all.findIndex(({ type }) => type === 'cancel_requested');
    expect(cancelled).toBe(all.length - 3);
    const page = { afterId: all[cancelled]?.id ?? '', limit: 5 };
    const rest = await readEvents(database.db, 'default', id, page);
    expect(rest?.events).toEqual(all.slice(cancelled + 1));
  });

  it('has times of the database clock', async () => {
    const { id, job } = await reachOwned(database);
    await writeEvents(database.db, 0, [{ ...saidBy(job, 0), ageMs: 3_600_000 }]);
    const events = await allEvents(database, id);
    const at = (type: string) => Date.parse(events.find((e) => e.type === type)?.at ?? '');
    expect(at('started') - at('custom')).toBeGreaterThan(3_500_000);
  });

  it('keeps to the page when a job has more claims than that', async () => {
    const subject = await reachState(database, 'queued');
    for (let round = 0; round < 6; round += 1) {
      const job = await claimed(subject);
      await settleAs(database, job, { kind: 'interrupted', message: 'deploy' });
    }
    const all = await allEvents(database, subject.id);
    expect(all).toHaveLength(2 + 6 * 3);
    for (const limit of [1, 2, 3, 4]) {
      const page = { afterId: null, limit };
      const first = await readEvents(database.db, 'default', subject.id, page);
      expect(first).toEqual({
        events: all.slice(0, limit),
        nextId: all[limit - 1]?.id,
        ended: false,
      });
      expect(await allEvents(database, subject.id, limit)).toEqual(all);
    }
  });

  it('is null for no job of this tenant', async () => {
    const { id } = await reachState(database, 'queued');
    const page = { afterId: null, limit: 10 };
    expect(await readEvents(database.db, 'other', id, page)).toBeNull();
    expect(await readEvents(database.db, 'default', 'nonsense', page)).toBeNull();
    expect(await readAttempts(database.db, 'other', id)).toBeNull();
    expect(await readAttempts(database.db, 'default', 'nonsense')).toBeNull();
  });

  describe('its attempts', () => {
    it('are shown with the running one, and with the one that succeeded', async () => {
      const subject = await reachOwned(database);
      const attempts = async () => await readAttempts(database.db, 'default', subject.id);
      expect(await attempts()).toEqual([
        {
          number: 1,
          claim: 1,
          definitionVersion: 1,
          workerId: subject.worker,
          pid: null,
          startedAt: expect.stringMatching(/Z$/),
          finishedAt: null,
          durationMs: null,
          exitCode: null,
          signal: null,
          peakRssBytes: null,
          cpuMs: null,
          error: null,
          outcome: null,
        },
      ]);
      await settleAs(database, subject.job, failure('TIMEOUT', 'too slow'));
      await comeDue(subject);
      const error = { code: 'TIMEOUT', message: 'too slow' };
      const failed = { number: 1, claim: 1, error, outcome: 'retrying' };
      expect(await attempts()).toMatchObject([failed]);
      const job = await claimed(subject);
      expect(await attempts()).toMatchObject([failed, { number: 2, claim: 2, finishedAt: null }]);
      await settleAs(database, job, SUCCESS);
      const read = await attempts();
      expect(read).toMatchObject([
        failed,
        { number: 2, claim: 2, error: null, outcome: 'succeeded' },
      ]);
      for (const { startedAt, finishedAt, durationMs } of read ?? []) {
        expect(durationMs).toBe(Date.parse(finishedAt ?? '') - Date.parse(startedAt));
      }
    });

    it('are none before the first, and one when it failed', async () => {
      const waiting = await reachState(database, 'queued');
      expect(await readAttempts(database.db, 'default', waiting.id)).toEqual([]);
      await cancelJob(database.db, 'default', waiting.id);
      expect(await readAttempts(database.db, 'default', waiting.id)).toEqual([]);
      const failed = await reachState(database, 'failed');
      const read = await readAttempts(database.db, 'default', failed.id);
      expect(read).toMatchObject([{ number: 1, claim: 1, error: { code: 'NOT_FOUND' } }]);
    });
  });
});
