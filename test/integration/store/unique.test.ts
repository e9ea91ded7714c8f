import { beforeAll, describe, expect, it } from 'vitest';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import type { Unique, UniqueWhile } from '../../../src/core/job/unique.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim, type ClaimedJob } from '../../../src/store/claim/claim.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { enqueueWithin } from '../../../src/store/enqueue/enqueue.ts';
import type { EnqueuedJob } from '../../../src/store/enqueue/enqueue-entry.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { retakeUniqueKeys } from '../../../src/store/enqueue/unique-jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, statementNamed, untilBlocked } from '../../support/servers/held-link.ts';
import { failure, newWorker, request, settleAs, SUCCESS } from '../../support/jobs.ts';

const database = sharedDatabase();
let worker: string;
let made = 0;

beforeAll(async () => {
  worker = await newWorker(database);
});

/** A definition of its own for each test, so that none meets the jobs of another. */
function kind(during: UniqueWhile, more: Partial<Unique> = {}) {
  made += 1;
  const definitionKey = `unique-${made}`;
  const unique: Unique = { key: 'k', while: during, onConflict: 'existing', ...more };
  const wanted = (changes: Partial<JobRequest> = {}) =>
    request({ definitionKey, unique, ...changes });
  const start = async (changes: Partial<JobRequest> = {}): Promise<EnqueuedJob> => {
    const [answer] = await database.enqueuer.start([wanted(changes)]);
    if (!answer) throw new Error('no answer');
    return answer;
  };
  /** The same inside an open transaction. */
  const startIn = async (link: Queryable, changes: Partial<JobRequest> = {}) => {
    const entry = await database.enqueuer.prepare(wanted(changes));
    return (await enqueueWithin(link, [entry]))[0];
  };
  const take = async (link: Queryable = database.db, ranks = [0]): Promise<ClaimedJob[]> => {
    const { queue } = await database.enqueuer.prepare(wanted());
    const lines = ranks.map((rank) => ({ queue: queue.queue, rank, floor: 0, attempts: 3 }));
    return await claim(link, 0, 1, worker, lines);
  };
  return { wanted, start, startIn, take };
}

const view = async (id: string) => await getJob(database.db, 'default', id);
const same = (first: EnqueuedJob, second: EnqueuedJob | undefined) =>
  expect([second?.jobId, second?.created]).toEqual([first.jobId, false]);
const another = (first: EnqueuedJob, second: EnqueuedJob | undefined) => {
  expect(second?.created).toBe(true);
  expect(second?.jobId).not.toBe(first.jobId);
};

describe('a unique job', () => {
  it('while queued: not two that wait, but one more once the first has begun', async () => {
    const { start, take } = kind('queued');
    const first = await start();
    same(first, await start({ paramsJson: '2' }));
    const [job] = await take();
    const second = await start();
    another(first, second);
    if (job) await settleAs(database, job, failure('TIMEOUT'));
    same(second, await start());
  });

  it('while active: not before the first has ended', async () => {
    const { start, take } = kind('active');
    const first = await start();
    const [job] = await take();
    same(first, await start());
    if (job) await settleAs(database, job, failure('TIMEOUT'));
    expect(await start()).toMatchObject({ jobId: first.jobId, status: 'retrying' });
    await cancelJob(database.db, 'default', first.jobId);
    another(first, await start());
  });

  it('within a window: as long as the first is young, however it ended', async () => {
    const { start, take } = kind({ windowMs: 60_000 });
    const first = await start();
    const [job] = await take();
    if (job) await settleAs(database, job, SUCCESS);
    same(first, await start());
    const old = `update longshore.job set created_at = now() - interval '61 s' where id = $1`;
    await database.sql(old, [first.jobId]);
    another(first, await start());
  });

  it('is known by its params where it has no key: their meaning, not their text', async () => {
    const { start } = kind('active', { key: null });
    const first = await start({ paramsJson: '{"a":1,"b":[2]}' });
    same(first, await start({ paramsJson: '{"b":[2],"a":1.0}' }));
    another(first, await start({ paramsJson: '{"a":1,"b":[3]}' }));
  });

  it('is one of its tenant and definition, in any version', async () => {
    const { start } = kind('active');
    const first = await start();
    same(first, await start({ definitionVersion: 2 }));
    another(first, await start({ tenant: 'other' }));
    another(first, await kind('active').start());
  });

  it('is one of a batch, too', async () => {
    const { wanted, start } = kind('queued');
    const first = await start();
    const plain = wanted({ unique: null });
    const other = wanted({ unique: { key: 'l', while: 'queued', onConflict: 'existing' } });
    const answers = await database.enqueuer.start([wanted(), other, plain, other, wanted()]);
    expect(answers.map(({ created }) => created)).toEqual([false, true, true, false, false]);
    expect(answers[3]?.jobId).toBe(answers[1]?.jobId);
    expect(answers[4]?.jobId).toBe(first.jobId);
  });

  it('answers a repeated request with the job that stood for it, also when that is over', async () => {
    const { start, take } = kind('active');
    const first = await start();
    same(first, await start({ idempotencyKey: 'again' }));
    const [job] = await take();
    if (job) await settleAs(database, job, SUCCESS);
    same(first, await start({ idempotencyKey: 'again' }));
    another(first, await start({ idempotencyKey: 'new' }));
  });
});

describe('replacing', () => {
  const replace = { onConflict: 'replace' } as const;

  it('gives a job that waits the params, priority, time and expiry of the newer request', async () => {
    const { start, take } = kind('queued', replace);
    const first = await start({ paramsJson: '1', delayMs: 3_600_000 });
    const expiresAt = new Date(Date.now() + 3_600_000);
    const second = await start({ paramsJson: '2', priority: 5, delayMs: 60_000, expiresAt });
    expect(second).toEqual({
      jobId: first.jobId,
      status: 'scheduled',
      created: false,
      replaced: true,
    });
    const job = await view(first.jobId);
    expect(job).toMatchObject({ params: 2, priority: 5, expiresAt: expiresAt.toISOString() });
    expect(Date.parse(job?.runAt ?? '') - Date.now()).toBeLessThan(60_001);
    same(first, await start({ paramsJson: '3' }));
    expect(await promote(database.db, 0, 10)).toMatchObject({ promoted: 1 });
    expect(await take()).toMatchObject([{ id: first.jobId, paramsJson: '3', claim: 1 }]);
  });

  const age = async (id: string, ms: number) =>
    await database.sql(
      `update longshore.job set created_at = created_at - make_interval(secs => ${ms / 1_000})
       where id = '${id}'`,
    );
  const leftMs = async (id: string) => Date.parse((await view(id))?.runAt ?? '') - Date.now();

  it('does not delay a job beyond maxWaitMs after the first request', async () => {
    const { start, take } = kind('queued', { ...replace, maxWaitMs: 90_000 });
    const first = await start({ paramsJson: '1', delayMs: 60_000 });
    same(first, await start({ paramsJson: '2', delayMs: 60_000 }));
    expect(await leftMs(first.jobId)).toBeGreaterThan(30_000);
    await age(first.jobId, 80_000);
    same(first, await start({ paramsJson: '3', delayMs: 60_000 }));
    expect(await leftMs(first.jobId)).toBeLessThan(10_001);
    await age(first.jobId, 20_000);
    const last = await start({ paramsJson: '4', delayMs: 60_000 });
    expect(last).toMatchObject({ jobId: first.jobId, replaced: true });
    expect(await promote(database.db, 0, 10)).toMatchObject({ promoted: 1 });
    // Still replaced while it is queued, because no request may delay it any more.
    same(first, await start({ paramsJson: '5', delayMs: 60_000 }));
    expect(await take()).toMatchObject([{ id: first.jobId, paramsJson: '5', claim: 1 }]);
    const next = await start({ paramsJson: '6', delayMs: 60_000 });
    another(first, next);
    expect(await leftMs(next.jobId)).toBeGreaterThan(30_000);
  });

  it('keeps to maxWaitMs when many requests come at once', async () => {
    const { start } = kind('queued', { ...replace, maxWaitMs: 90_000 });
    const first = await start({ delayMs: 60_000 });
    await age(first.jobId, 85_000);
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const answers = await Promise.all(
      numbers.map(async (n) => await start({ paramsJson: String(n), delayMs: 60_000 })),
    );
    expect(new Set(answers.map(({ jobId }) => jobId))).toEqual(new Set([first.jobId]));
    expect(await leftMs(first.jobId)).toBeLessThan(5_001);
  });

  it('leaves a job at its position in the queue', async () => {
    const { start, take } = kind('queued', { ...replace, key: 'a' });
    const first = await start({ paramsJson: '1' });
    await start({ unique: null });
    same(first, await start({ paramsJson: '2' }));
    expect(await take()).toMatchObject([{ id: first.jobId, paramsJson: '2' }]);
  });

  it('leaves a held job held', async () => {
    const { start } = kind('queued', replace);
    const first = await start({ hold: true });
    expect(await start({ paramsJson: '2' })).toMatchObject({ ...first, created: false });
    expect(await view(first.jobId)).toMatchObject({ status: 'created', params: 2 });
  });

  it('does not send a job back to wait whose time has come', async () => {
    const { start } = kind('queued', replace);
    const first = await start({ paramsJson: '1' });
    another(first, await start({ paramsJson: '2', delayMs: 60_000 }));
    expect(await view(first.jobId)).toMatchObject({ status: 'queued', params: 1 });
    const active = kind('active', replace);
    const other = await active.start({ paramsJson: '1' });
    same(other, await active.start({ paramsJson: '2', delayMs: 60_000 }));
    expect(await view(other.jobId)).toMatchObject({ params: 1 });
  });

  it('does not touch a job that has ever begun', async () => {
    for (const [during, next] of [
      ['queued', another],
      ['active', same],
    ] as const) {
      const { start, take } = kind(during, replace);
      const first = await start({ paramsJson: '1' });
      const [job] = await take();
      if (job) await settleAs(database, job, failure('TIMEOUT'));
      next(first, await start({ paramsJson: '2' }));
      expect(await view(first.jobId)).toMatchObject({ status: 'retrying', params: 1 });
    }
  });
});

describe('two enqueues of one unique key', () => {
  it.each([
    ['commits', same],
    ['rolls back', another],
  ])('the first %s, and the second acts on that', async (end, expected) => {
    const { start, startIn } = kind('queued');
    const link = await HeldLink.begin(database);
    const first = await startIn(link);
    const second = start();
    await untilBlocked(database);
    await (end === 'commits' ? link.commit() : link.rollback());
    if (first) expected(first, await second);
  });

  it('make one job of many at once', async () => {
    const { start } = kind('active');
    const answers = await Promise.all(Array.from({ length: 20 }, async () => await start()));
    expect(new Set(answers.map(({ jobId }) => jobId)).size).toBe(1);
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
  });

  it('in opposite order, in two batches, do not wait for each other in a circle', async () => {
    const { wanted } = kind('active');
    const of = (key: string) =>
      wanted({ unique: { key, while: 'active', onConflict: 'existing' }, idempotencyKey: key });
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
    const batches = Array.from({ length: 6 }, (_, n) => (n % 2 ? keys : keys.toReversed()).map(of));
    const answers = await Promise.all(batches.map(async (jobs) => database.enqueuer.start(jobs)));
    expect(new Set(answers.flat().map(({ jobId }) => jobId)).size).toBe(keys.length);
  });
});

describe('an enqueue and a claim of the job that holds the key', () => {
  it('the claim is open: the job still waits, so it is the answer', async () => {
    const { start, take } = kind('queued');
    const first = await start();
    const link = await HeldLink.begin(database);
    expect(await take(link)).toHaveLength(1);
    same(first, await start());
    await link.commit();
    another(first, await start());
  });

  it.each([
    ['queued', 'commits', another],
    ['active', 'commits', same],
    ['queued', 'rolls back', same],
  ] as const)('replacing %s waits until the claim %s', async (during, end, expected) => {
    const { start, take } = kind(during, { onConflict: 'replace' });
    const first = await start({ paramsJson: '1' });
    const link = await HeldLink.begin(database);
    expect(await take(link)).toHaveLength(1);
    const second = start({ paramsJson: '2' });
    await untilBlocked(database);
    await (end === 'commits' ? link.commit() : link.rollback());
    expected(first, await second);
    const replaced = end === 'rolls back';
    expect(await view(first.jobId)).toMatchObject({ params: replaced ? 2 : 1 });
  });

  it('replacing is open: a claim leaves the job alone, and then takes it with its new params', async () => {
    const { start, startIn, take } = kind('queued', { onConflict: 'replace' });
    const first = await start({ paramsJson: '1' });
    const link = await HeldLink.begin(database);
    await startIn(link, { paramsJson: '2' });
    expect(await take()).toEqual([]);
    await link.commit();
    expect(await take()).toMatchObject([{ id: first.jobId, paramsJson: '2' }]);
  });

  it('a claim that began before the job was replaced does not run it with its old params', async () => {
    const { wanted, start, take } = kind('queued', { onConflict: 'replace' });
    const first = await start({ paramsJson: '1' });
    const { queue } = await database.enqueuer.prepare(wanted());
    const limiter = `(select pg_advisory_xact_lock(77))`;
    const link = await HeldLink.begin(database);
    await link.run({ name: 'close_limiter', text: `select ${limiter}::text` });
    // The claim, to the letter, but that it stands still between its snapshot and its first lock.
    const text = statementNamed('claim').text.replace(
      'where exists (',
      `where ${limiter}::text = '' and exists (`,
    );
    const values = [0, 1, worker, [queue.queue], [0], [0], [3]];
    const early = database.db.run({ name: 'limited_claim', text }, values);
    await untilBlocked(database);
    same(first, await start({ paramsJson: '2' }));
    await link.rollback();
    expect(await early).toEqual([]);
    expect(await take()).toMatchObject([{ id: first.jobId, paramsJson: '2' }]);
  });
});

describe('a unique job that is to live again', () => {
  const ended = async (during: UniqueWhile) => {
    const { start, take } = kind(during);
    const first = await start();
    const [job] = await take();
    if (job) await settleAs(database, job, failure('NOT_FOUND'));
    return { first, start };
  };
  const retake = async (jobId: string) =>
    await database.db.transaction(
      async (tx) => (await retakeUniqueKeys(tx, 0, [jobId], 'default')).get(jobId) ?? null,
    );

  it('takes its key again, and keeps others out', async () => {
    const { first } = await ended('active');
    expect(await retake(first.jobId)).toBeNull();
  });

  it('gets the live job that holds the key now', async () => {
    const { first, start } = await ended('active');
    const second = await start();
    another(first, second);
    expect(await retake(first.jobId)).toBe(second.jobId);
    await cancelJob(database.db, 'default', second.jobId);
    expect(await retake(first.jobId)).toBeNull();
  });

  it('may not be retried beside it, alone or among many', async () => {
    const { first, start } = await ended('active');
    const second = await start();
    const retryRequest = { mode: 'now', runAt: null, paramsJson: null } as const;
    const retry = async () => await retryJob(database.db, 'default', first.jobId, retryRequest);
    expect(await retry()).toEqual({ kind: 'taken', by: second.jobId });
    await cancelJob(database.db, 'default', second.jobId);
    expect(await retry()).toEqual({ kind: 'changed', status: 'queued' });
    const both = [first.jobId, second.jobId];
    const taken = await database.db.transaction(async (tx) =>
      retakeUniqueKeys(tx, 0, both, 'default'),
    );
    expect([...taken]).toEqual([[second.jobId, first.jobId]]);
  });

  it('is free to if it was never unique', async () => {
    const [plain] = await database.enqueuer.start([request()]);
    expect(await retake(plain?.jobId ?? '')).toBeNull();
  });
});
