import { describe, expect, it } from 'vitest';
import { makeJobId } from '../../../src/core/job/job-id.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

/** A repeated request creates no second job, although no row stores its id. */
const database = sharedDatabase({ shards: 2 });
const app = sharedServer(database);

let made = 0;
const requestIdAt = (timeMs: number) =>
  makeJobId({ timeMs, sequence: 0, random: [1, (made += 1)], shard: 0 });
const requestId = () => requestIdAt(Date.now());
const post = async (url: string, payload: object, key: string | null = null) => {
  const { status, body } = await callAs(app, key, 'POST', url, { payload });
  return { status, body };
};
const enqueue = async (body: object, key: string | null = null) =>
  await post('/v1/jobs', { definitionKey: 'once', ...body }, key);
const jobsOf = async (tag: string) =>
  await database.sql("select from longshore.job where params->>'tag' = $1", [tag]);

describe('a requestId', () => {
  it('returns the same job again, with its state', async () => {
    const body = { requestId: requestId(), params: { tag: 'again' } };
    const first = await enqueue(body);
    expect(first.status).toBe(202);
    expect(await enqueue(body)).toEqual(first);
    await callAs(app, null, 'POST', `/v1/jobs/${String(first.body['jobId'])}/cancel`);
    expect((await enqueue(body)).body).toMatchObject({ ...first.body, status: 'cancelled' });
    expect(await jobsOf('again')).toHaveLength(1);
    expect(await database.sql('select from longshore.dedupe')).toEqual([]);
  });

  it('creates one job when many of the same request arrive at once', async () => {
    const body = { requestId: requestId(), params: { tag: 'many' } };
    const others = Array.from({ length: 10 }, () => ({
      requestId: requestId(),
      params: { tag: 'other' },
    }));
    const all = [...Array.from({ length: 20 }, () => body), ...others];
    const answers = await Promise.all(all.map(async (one) => await enqueue(one)));
    expect(new Set(answers.map(({ body: { jobId } }) => jobId)).size).toBe(11);
    expect(await jobsOf('many')).toHaveLength(1);
    expect(await jobsOf('other')).toHaveLength(10);
  });

  it.each([
    ['a delay', { delayMs: 60_000 }],
    ['tags', { tags: ['red'] }],
    ['a key of its own', { idempotencyKey: 'mine' }],
  ])('counts also for a job with %s', async (tag, more) => {
    const body = { requestId: requestId(), params: { tag }, ...more };
    expect(await enqueue(body)).toEqual(await enqueue(body));
    expect(await jobsOf(tag)).toHaveLength(1);
  });

  it('counts for each job of a batch, also beside jobs that are not plain', async () => {
    const jobs = [{ delayMs: 60_000 }, {}, {}].map((more, n) => ({
      definitionKey: `batch-${n}`,
      requestId: requestId(),
      params: { tag: 'batch' },
      ...more,
    }));
    const send = async () => await post('/v1/jobs/batch', { jobs });
    const sent = await send();
    expect(await send()).toEqual(sent);
    // The SDK sends a refused batch again as single requests.
    const alone = await Promise.all(jobs.map(async (job) => (await post('/v1/jobs', job)).body));
    expect(alone.map(({ jobId }) => jobId)).toEqual(
      (sent.body['jobs'] as { jobId: string }[]).map(({ jobId }) => jobId),
    );
    expect(await jobsOf('batch')).toHaveLength(3);
  });

  it.each([
    ['too old', Date.now() - 90_000_000, 'must be made within the last day'],
    ['of the future', Date.now() + 90_000_000, 'must be made within the last day'],
    ['no UUID', null, 'must be a UUID of version 7'],
  ])('that is %s is refused', async (_, timeMs, detail) => {
    const id = timeMs === null ? 'mine' : requestIdAt(timeMs);
    const { status, body } = await enqueue({ requestId: id, params: { tag: 'refused' } });
    expect([status, body['errors']]).toEqual([400, [{ pointer: '/requestId', detail }]]);
    expect(await jobsOf('refused')).toEqual([]);
  });

  // The last test: with a key in the database, a server wants one from every caller.
  it('of another tenant is another request', async () => {
    const body = { requestId: requestId(), params: { tag: 'tenants' } };
    const keys = await Promise.all(
      ['one', 'two'].map(async (name) =>
        newKey(database, await newTenant(database, name), 'admin'),
      ),
    );
    const answers = [];
    for (const { key } of keys) answers.push((await enqueue(body, key)).body['jobId']);
    expect(new Set(answers).size).toBe(2);
  });
});
