import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { batchJob } from '../../../src/app/built-in/batch-job.ts';
import type { BatchView } from '../../../src/core/batch/batch.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { shardOfJobId } from '../../../src/core/job/job-id.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { batchCanceller, finishCancels } from '../../../src/scheduler/batches/batch-canceller.ts';
import { beginBatchCancel } from '../../../src/store/batches/cancel-batch.ts';
import { createBatch } from '../../../src/enqueue/batches.ts';
import { readSuspended } from '../../../src/store/counters/read-suspended.ts';
import { cancelJobs } from '../../../src/store/change/cancel-jobs.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { countStatements } from '../../support/checks/count-statements.ts';
import { newWorker } from '../../support/jobs.ts';
import { newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** Batches over HTTP, with a worker that runs their jobs. */

/** Parents, children and batches are in the shards of their definitions. */
const database = sharedDatabase({ shards: 4 });
const server = sharedServer(database);
const keys: Record<string, string> = {};
const stops: (() => Promise<void>)[] = [];
const failing = new Set<string>();
const runs: string[] = [];

const note = defineJob({
  key: 'note',
  isolation: 'inline',
  maxAttempts: 1,
  run: ({ text }: { text: string }) => {
    if (failing.has(text)) throw new Error(`no ${text}`);
    return text;
  },
});
/** Does not stop before it may. */
const stubborn = defineJob({
  key: 'stubborn',
  isolation: 'inline',
  run: async ({ text }: { text: string }) => {
    await new Promise<void>((done) => held.set(text, done));
  },
});
const held = new Map<string, () => void>();
const callback = defineJob({
  key: 'callback',
  isolation: 'inline',
  run: ({ text }: { text: string }, ctx) => {
    runs.push(text);
    const [batch] = ctx.parents;
    return { state: batch?.state, result: batch?.result, message: batch?.error?.message };
  },
});

beforeAll(async () => {
  for (const tenant of ['acme', 'rival']) {
    await newTenant(database, tenant);
    keys[tenant] = (await newKey(database, tenant, 'jobs:read', 'jobs:write')).key;
  }
  const builtIn = { definitions: [batchJob(database.db)], slots: 3 };
  const jobs = [note, stubborn, callback];
  const { worker, stop } = workerOn(database, { jobs, builtIn, cancelGraceMs: 60_000 });
  await worker.start();
  stops.push(stop, await scheduling(database));
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

const as = (tenant: string, key?: string) => ({
  authorization: `Bearer ${keys[tenant]}`,
  ...(key !== undefined && { 'idempotency-key': key }),
});
const post = async (url: string, payload: object, tenant = 'acme', key?: string) =>
  await server.inject({ method: 'POST', url, headers: as(tenant, key), payload });
const get = async <T>(url: string, tenant = 'acme') =>
  (await server.inject({ url, headers: as(tenant) })).json<T>();
const create = async (payload: object) => {
  const answer = await post('/v1/batches', payload);
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json<BatchView>();
};
const read = async (id: string) => await get<BatchView>(`/v1/batches/${id}`);
const job = async (id: string) => await get<JobView>(`/v1/jobs/${id}`);
const ended = async (id: string) =>
  await until(`batch ${id} ended`, async () => {
    const batch = await read(id);
    return batch.endedAt === null ? null : batch;
  });
const jobEnded = async (id: string | null) =>
  await until(`job ${id} ended`, async () => {
    const found = await job(id ?? '');
    return found.finishedAt === null ? null : found;
  });
const notes = (...texts: string[]) =>
  texts.map((text) => ({ definitionKey: 'note', params: { text } }));
const then = (text: string) => ({ definitionKey: 'callback', params: { text } });

describe('a batch without a worker beside the database', () => {
  const alone = sharedDatabase();

  it('waits for one, and its job says so', async () => {
    await newWorker(alone);
    const { batch } = await createBatch(alone, 'default', {
      jobs: [],
      onComplete: null,
      onSuccess: null,
      open: false,
      name: null,
      idempotencyKey: null,
    });
    const found = await getJob(alone.db, 'default', batch.id, 0);
    expect(found).toMatchObject({ status: 'queued', warnings: [{ code: 'UNSERVED' }] });
  });
});

describe('a batch', () => {
  it('ends with its counts, and runs both callbacks once', async () => {
    const made = await create({
      name: 'both',
      jobs: notes('a', 'b', 'c'),
      onComplete: then('both complete'),
      onSuccess: then('both success'),
    });
    expect(made).toMatchObject({ name: 'both', total: 3, status: 'running' });
    const done = await ended(made.id);
    const counts = { total: 3, succeeded: 3, failed: 0, cancelled: 0 };
    expect(done).toMatchObject({ status: 'succeeded', pending: 0, ...counts });
    const complete = await jobEnded(done.onComplete);
    expect(complete.result).toMatchObject({ state: 'succeeded', result: counts });
    expect((await jobEnded(done.onSuccess)).status).toBe('succeeded');
    expect((await job(made.id)).result).toEqual(counts);
    expect(runs.filter((text) => text.startsWith('both')).sort()).toEqual([
      'both complete',
      'both success',
    ]);
  });

  it('without jobs ends at once', async () => {
    const { id, onComplete } = await create({ onComplete: then('empty') });
    expect(await ended(id)).toMatchObject({ status: 'succeeded', total: 0 });
    expect((await jobEnded(onComplete)).status).toBe('succeeded');
  });

  it('accepts jobs until it is closed, also when all its jobs have ended', async () => {
    const { id } = await create({ jobs: notes('first'), open: true });
    await until('the job has ended', async () => (await read(id)).succeeded === 1 || null);
    expect(await read(id)).toMatchObject({ status: 'open', closedAt: null });
    expect(await job(id)).toMatchObject({ status: 'suspended', waitsFor: { jobs: 'batch' } });
    const added = await post(`/v1/batches/${id}/jobs`, { jobs: notes('second', 'third') });
    expect(added.json()).toMatchObject({ status: 'open', total: 3 });
    for (let times = 0; times < 2; times += 1) {
      const closed = await post(`/v1/batches/${id}/close`, {});
      expect(closed.json<BatchView>().closedAt).not.toBeNull();
    }
    expect(await ended(id)).toMatchObject({ status: 'succeeded', total: 3, succeeded: 3 });
    const late = await post(`/v1/batches/${id}/jobs`, { jobs: notes('late') });
    expect(late.statusCode).toBe(409);
    expect(late.json()).toMatchObject({ code: 'BATCH_CLOSED' });
  });

  it('fails when a job fails, and waits again for a job that is retried alone', async () => {
    failing.add('bad');
    const jobs = notes('good', 'bad');
    const { id, onComplete, onSuccess } = await create({
      jobs,
      onComplete: then('revived complete'),
      onSuccess: then('revived success'),
    });
    expect(await ended(id)).toMatchObject({ status: 'failed', succeeded: 1, failed: 1 });
    const message = '1 of 2 jobs did not succeed: 1 failed, 0 cancelled';
    expect((await job(id)).error).toMatchObject({ code: 'BATCH_FAILED', message });
    expect((await jobEnded(onComplete)).result).toMatchObject({ state: 'failed', message });
    expect((await jobEnded(onSuccess)).error).toMatchObject({ code: 'PARENT_FAILED' });
    const page = await get<{ jobs: { jobId: string }[] }>(`/v1/batches/${id}/jobs?state=failed`);
    expect(page.jobs).toMatchObject([{ definitionKey: 'note', status: 'failed', position: 1 }]);
    failing.delete('bad');
    expect((await post(`/v1/jobs/${page.jobs[0]?.jobId}/retry`, {})).statusCode).toBe(202);
    expect(await ended(id)).toMatchObject({ status: 'succeeded', total: 2, succeeded: 2 });
    expect((await jobEnded(onSuccess)).status).toBe('succeeded');
    expect(runs.filter((text) => text === 'revived complete')).toHaveLength(1);
  });

  it('fails again when only some of its failed jobs are retried, and succeeds with the last', async () => {
    failing.add('one').add('two');
    const { id, onComplete, onSuccess } = await create({
      jobs: notes('one', 'two'),
      onComplete: then('partly complete'),
      onSuccess: then('partly success'),
    });
    expect(await ended(id)).toMatchObject({ status: 'failed', failed: 2 });
    await jobEnded(onComplete);
    await jobEnded(onSuccess);
    failing.clear();
    const { jobs } = await get<{ jobs: { jobId: string }[] }>(`/v1/batches/${id}/jobs`);
    for (const [index, left] of [1, 0].entries()) {
      await post(`/v1/jobs/${jobs[index]?.jobId}/retry`, {});
      const status = left > 0 ? 'failed' : 'succeeded';
      expect(await ended(id)).toMatchObject({ status, failed: left });
      expect((await jobEnded(onSuccess)).status).toBe(status);
    }
    expect(runs.filter((text) => text.startsWith('partly')).sort()).toEqual([
      'partly complete',
      'partly success',
    ]);
  });

  it('retries all jobs that did not succeed, and waits for them again', async () => {
    failing.add('flop');
    const { id, onComplete, onSuccess } = await create({
      jobs: [...notes('fine', 'flop', 'flop'), { ...notes('later')[0], delayMs: 3_600_000 }],
      onComplete: then('again complete'),
      onSuccess: then('again success'),
    });
    const later = (await get<{ jobs: { jobId: string }[] }>(`/v1/batches/${id}/jobs`)).jobs.at(-1);
    await until('the others ended', async () => (await read(id)).pending === 1 || null);
    await post(`/v1/jobs/${later?.jobId}/cancel`, {});
    expect(await ended(id)).toMatchObject({ status: 'failed', failed: 2, cancelled: 1 });
    await jobEnded(onComplete);
    failing.delete('flop');
    const again = await post(`/v1/batches/${id}/retry`, {});
    expect(again.statusCode, again.body).toBe(200);
    expect(await ended(id)).toMatchObject({ status: 'succeeded', succeeded: 4 });
    expect((await jobEnded(onSuccess)).status).toBe('succeeded');
    expect(runs.filter((text) => text === 'again complete')).toHaveLength(1);
    const audit = await database.sql(
      `select action, after from longshore.audit where subject = '${id}' order by id`,
    );
    // The retry of its jobs has retried the batch.
    expect(audit).toMatchObject([{ action: 'batch.retry_jobs', after: { jobs: 3 } }]);
    // All have succeeded: nothing is left to retry.
    const more = await post(`/v1/batches/${id}/retry`, {});
    expect(more.json()).toMatchObject({ status: 'succeeded', succeeded: 4 });
  });

  it('keeps its counts when its jobs are deleted, and says why a retry is refused', async () => {
    failing.add('gone');
    const { id } = await create({ jobs: notes('kept', 'gone') });
    await ended(id);
    failing.delete('gone');
    const page = await get<{ jobs: { jobId: string }[] }>(`/v1/batches/${id}/jobs`);
    for (const { jobId } of page.jobs) {
      const url = `/v1/jobs/${jobId}`;
      const gone = await server.inject({ method: 'DELETE', url, headers: as('acme') });
      expect(gone.statusCode).toBe(204);
    }
    expect(await read(id)).toMatchObject({ status: 'failed', total: 2, succeeded: 1, failed: 1 });
    expect((await get<{ jobs: object[] }>(`/v1/batches/${id}/jobs`)).jobs).toMatchObject([
      { definitionKey: null, status: 'succeeded' },
      { definitionKey: null, status: 'failed' },
    ]);
    const retried = await post(`/v1/batches/${id}/retry`, {});
    expect(retried.statusCode).toBe(409);
    expect(retried.json<{ detail: string }>().detail).toBe(
      'the job that did not succeed is deleted and cannot be retried',
    );
    expect(await read(id)).toMatchObject({ status: 'failed' });
  });

  it('that is deleted leaves its jobs', async () => {
    const { id } = await create({ jobs: notes('survivor') });
    await ended(id);
    const [one] = (await get<{ jobs: { jobId: string }[] }>(`/v1/batches/${id}/jobs`)).jobs;
    const url = `/v1/jobs/${id}`;
    await server.inject({ method: 'DELETE', url, headers: as('acme') });
    const missing = await server.inject({ url: `/v1/batches/${id}`, headers: as('acme') });
    expect(missing.statusCode).toBe(404);
    expect(await job(one?.jobId ?? '')).toMatchObject({ status: 'succeeded' });
    const related = await get<{ spawnedBy: unknown }>(`/v1/jobs/${one?.jobId}/related`);
    expect(related.spawnedBy).toBeNull();
  });

  it('is cancelled with its jobs', async () => {
    const later = notes('x', 'y').map((one) => ({ ...one, delayMs: 3_600_000 }));
    const { id, onComplete, onSuccess } = await create({
      jobs: later,
      open: true,
      onComplete: then('cancelled'),
      onSuccess: then('never'),
    });
    for (let times = 0; times < 2; times += 1) {
      const answer = await post(`/v1/batches/${id}/cancel`, {});
      expect(answer.json<BatchView>().status).toMatch(/^cancell(ing|ed)$/);
    }
    expect(await ended(id)).toMatchObject({ status: 'cancelled', cancelled: 2, pending: 0 });
    expect((await jobEnded(onComplete)).result).toMatchObject({
      state: 'cancelled',
      result: { total: 2, succeeded: 0, failed: 0, cancelled: 2 },
    });
    expect((await jobEnded(onSuccess)).status).toBe('failed');
    expect((await post(`/v1/batches/${id}/jobs`, { jobs: notes('z') })).statusCode).toBe(409);
    const audit = await database.sql(
      `select action from longshore.audit where subject = '${id}' order by id`,
    );
    expect(audit.map(({ action }) => action)).toEqual(['job.cancel', 'job.cancel_children']);
  });

  it('that is cancelled ends with the last of its jobs, and only then runs onComplete', async () => {
    const texts = ['slow one', 'slow two'];
    const jobs = texts.map((text) => ({ definitionKey: 'stubborn', params: { text } }));
    const later = { ...notes('later')[0], delayMs: 3_600_000 };
    const onCompleted = then('after the cancel');
    const { id, onComplete } = await create({
      jobs: [...jobs, later],
      open: true,
      onComplete: onCompleted,
    });
    await until('both run', async () => texts.every((text) => held.has(text)) || null);
    const answer = await post(`/v1/batches/${id}/cancel`, {});
    expect(answer.json()).toMatchObject({ status: 'cancelling', pending: 2, endedAt: null });
    expect(answer.json<BatchView>().closedAt).not.toBeNull();
    expect(await job(id)).toMatchObject({ status: 'suspended', waitsFor: { jobs: 'children' } });
    expect(await read(id)).toMatchObject({ status: 'cancelling', cancelled: 1 });
    const more = await post(`/v1/batches/${id}/jobs`, { jobs: notes('late') });
    expect(more.json()).toMatchObject({ code: 'BATCH_CLOSED' });
    expect((await post(`/v1/batches/${id}/retry`, {})).statusCode).toBe(409);
    held.get('slow one')?.();
    await until('one has ended', async () => (await read(id)).succeeded === 1 || null);
    expect(await read(id)).toMatchObject({ status: 'cancelling', pending: 1 });
    expect((await job(onComplete ?? '')).status).toBe('suspended');
    held.get('slow two')?.();
    expect(await ended(id)).toMatchObject({ status: 'cancelled', succeeded: 2, cancelled: 1 });
    const result = { total: 3, succeeded: 2, failed: 0, cancelled: 1 };
    expect((await jobEnded(onComplete)).result).toMatchObject({ state: 'cancelled', result });
    expect(runs.filter((text) => text === 'after the cancel')).toHaveLength(1);
  });

  it('is cancelled by a scheduler when the process of the request died midway', async () => {
    const jobs = notes('x', 'y').map((one) => ({ ...one, delayMs: 3_600_000 }));
    const { id, onComplete } = await create({ jobs, onComplete: then('finished') });
    const by = { name: 'key:1 (ci)', address: null };
    expect(await beginBatchCancel(database.db, 'acme', shardOfJobId(id), id, by)).toBe(true);
    expect(await read(id)).toMatchObject({ status: 'cancelling', pending: 2 });
    const canceller = batchCanceller(database.db, 100, silentLog);
    await canceller.start();
    expect(await ended(id)).toMatchObject({ status: 'cancelled', cancelled: 2 });
    await canceller.stop();
    expect((await jobEnded(onComplete)).result).toMatchObject({ state: 'cancelled' });
    const requested = await database.sql<{ by: string }>(
      `select cancel_requested_by as by from longshore.done where id = '${id}'`,
    );
    expect(requested).toEqual([{ by: by.name }]);
  });

  it('is cancelled by a scheduler although a hundred others cannot be yet', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 101; n += 1) ids.push((await create({ open: true })).id);
    const last = ids.toSorted().at(-1) ?? '';
    const shard = shardOfJobId(last);
    for (const id of ids) await beginBatchCancel(database.db, 'acme', shardOfJobId(id), id, null);
    await database.sql(
      `create function refuse() returns trigger language plpgsql
       as 'begin raise exception ''not yet''; end'`,
    );
    await database.sql(
      `create trigger refuse before update or delete on longshore.waiting for each row
       when (old.waits_for = ':children:cancelled' and old.id <> '${last}')
       execute function refuse()`,
    );
    await finishCancels(database.db, shard, silentLog);
    expect(await ended(last)).toMatchObject({ status: 'cancelled' });
    expect(await read(ids.toSorted()[0] ?? '')).toMatchObject({ status: 'cancelling' });
    await database.sql('drop trigger refuse on longshore.waiting');
    await finishCancels(database.db, shard, silentLog);
    for (const id of ids) expect(await ended(id)).toMatchObject({ status: 'cancelled' });
  });

  it('is cancelled with its jobs, too, by a cancel of its job', async () => {
    const text = 'cancelled as a job';
    const jobs = [{ definitionKey: 'stubborn', params: { text } }];
    const { id, onComplete } = await create({ jobs, onComplete: then('as a job') });
    await until('it runs', () => held.has(text) || null);
    const { counts } = countStatements();
    for (const times of [1, 2]) {
      const answer = await post(`/v1/jobs/${id}/cancel`, {});
      expect(answer.json()).toMatchObject({ status: 'suspended' });
      expect(await read(id)).toMatchObject({ status: 'cancelling', pending: 1 });
      // A job that already stops is looked for once, and not again and again.
      expect(counts.get('cancel_many_running')).toBe(times);
    }
    vi.restoreAllMocks();
    const scope = { tenant: 'acme', states: ['suspended'], by: null } as const;
    expect((await cancelJobs(database.db, shardOfJobId(id), [id], scope)).ids).toEqual([]);
    held.get(text)?.();
    expect(await ended(id)).toMatchObject({ status: 'cancelled', succeeded: 1 });
    const result = { total: 1, succeeded: 1, failed: 0, cancelled: 0 };
    expect((await jobEnded(onComplete)).result).toMatchObject({ state: 'cancelled', result });
  });
});

it('is counted by what it waits for: more jobs while it is open, then its jobs', async () => {
  const count = async (cause: string) => {
    let jobs = 0;
    for (let shard = 0; shard < database.db.shards; shard += 1) {
      const found = await readSuspended(database.db, shard);
      for (const one of found) if (one.cause === cause) jobs += one.jobs;
    }
    return jobs;
  };
  const both = async () => [await count('batch'), await count('children')];
  const [open = 0, waiting = 0] = await both();
  const later = notes('metric').map((one) => ({ ...one, delayMs: 3_600_000 }));
  const { id } = await create({ jobs: later, open: true });
  expect(await both()).toEqual([open + 1, waiting]);
  await post(`/v1/batches/${id}/close`, {});
  expect(await both()).toEqual([open, waiting + 1]);
  await post(`/v1/batches/${id}/cancel`, {});
  await ended(id);
  expect(await both()).toEqual([open, waiting]);
});

describe('requests', () => {
  it('with the same key store nothing twice', async () => {
    const body = { jobs: notes('k1'), open: true, onComplete: then('keyed') };
    const first = await post('/v1/batches', body, 'acme', 'batch-1');
    const again = await post('/v1/batches', body, 'acme', 'batch-1');
    expect([first.statusCode, again.statusCode]).toEqual([201, 200]);
    const { id } = first.json<BatchView>();
    expect(again.json()).toMatchObject({ id, onComplete: first.json<BatchView>().onComplete });
    const other = await post('/v1/batches', { ...body, jobs: notes('k2') }, 'acme', 'batch-1');
    expect(other.json()).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    const add = async (...texts: string[]) =>
      await post(`/v1/batches/${id}/jobs`, { jobs: notes(...texts) }, 'acme', 'part-1');
    expect((await add('k2', 'k3')).json()).toMatchObject({ total: 3 });
    expect((await add('k2', 'k3')).json()).toMatchObject({ total: 3 });
    expect((await add('k4')).json()).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    await post(`/v1/batches/${id}/close`, {});
    expect((await add('k2', 'k3')).statusCode).toBe(200);
    expect(await ended(id)).toMatchObject({ succeeded: 3 });
  });

  it('are the same when their params are, in whatever order the fields come', async () => {
    const job = (params: object) => [{ definitionKey: 'note', params }];
    const one = job({ text: 'order', more: { a: 1, b: 2 } });
    const other = job({ more: { b: 2, a: 1 }, text: 'order' });
    const make = async (jobs: object[]) =>
      await post('/v1/batches', { jobs, open: true }, 'acme', 'batch-order');
    const first = await make(one);
    expect([first.statusCode, (await make(other)).statusCode]).toEqual([201, 200]);
    const { id } = first.json<BatchView>();
    const add = async (jobs: object[]) =>
      await post(`/v1/batches/${id}/jobs`, { jobs }, 'acme', 'part-order');
    expect((await add(one)).json()).toMatchObject({ total: 2 });
    expect((await add(other)).json()).toMatchObject({ total: 2 });
  });

  it('with one bad entry store nothing, and name its place', async () => {
    const before = (await get<{ batches: unknown[] }>('/v1/batches?limit=50')).batches.length;
    const unknown = { definitionKey: 'nothing', requireRegistered: true };
    const refused = await post('/v1/batches', { jobs: [...notes('ok'), unknown] });
    expect(refused.statusCode).toBe(422);
    expect(refused.json()).toMatchObject({ errors: [{ pointer: '/jobs/1/definitionKey' }] });
    const end = await post('/v1/batches', { jobs: notes('ok'), onSuccess: unknown });
    expect(end.json()).toMatchObject({ errors: [{ pointer: '/onSuccess/definitionKey' }] });
    const keyed = await post('/v1/batches', { jobs: [{ ...notes('ok')[0], idempotencyKey: 'a' }] });
    expect(keyed.json()).toMatchObject({
      errors: [
        { pointer: '/jobs/0/idempotencyKey', detail: 'a job of a batch has no idempotencyKey' },
      ],
    });
    const after = (await get<{ batches: unknown[] }>('/v1/batches?limit=50')).batches.length;
    expect(after).toBe(before);
  });

  it('of another tenant find no batch', async () => {
    const { id } = await create({ open: true });
    const answers = [
      await server.inject({ url: `/v1/batches/${id}`, headers: as('rival') }),
      await server.inject({ url: `/v1/batches/${id}/jobs`, headers: as('rival') }),
      await post(`/v1/batches/${id}/jobs`, { jobs: notes('a') }, 'rival'),
      await post(`/v1/batches/${id}/close`, {}, 'rival'),
      await post(`/v1/batches/${id}/cancel`, {}, 'rival'),
      await post(`/v1/batches/${id}/retry`, {}, 'rival'),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(6).fill(404));
    expect((await get<{ batches: unknown[] }>('/v1/batches', 'rival')).batches).toEqual([]);
    expect(await read(id)).toMatchObject({ status: 'open', total: 0 });
  });

  it('page through batches and their jobs', async () => {
    const { id } = await create({ jobs: notes('p0', 'p1', 'p2'), open: true });
    const newest = await get<{ batches: BatchView[]; nextCursor: string }>('/v1/batches?limit=1');
    expect(newest.batches.map((batch) => batch.id)).toEqual([id]);
    const next = await get<{ batches: BatchView[] }>(
      `/v1/batches?limit=1&cursor=${newest.nextCursor}`,
    );
    expect((next.batches[0]?.id ?? '') < id).toBe(true);
    interface Page {
      jobs: { position: number }[];
      nextCursor: string | null;
    }
    const first = await get<Page>(`/v1/batches/${id}/jobs?limit=2`);
    const rest = await get<Page>(`/v1/batches/${id}/jobs?limit=2&cursor=${first.nextCursor}`);
    expect([...first.jobs, ...rest.jobs].map(({ position }) => position)).toEqual([0, 1, 2]);
    expect(rest.nextCursor).toBeNull();
  });
});
