import { expect, it } from 'vitest';
import { EnqueueError } from '../../../src/client/index.ts';
import { seedServer } from '../../support/servers/seed-server.ts';
import { until } from '../../support/until.ts';

/** Rows of seed 004 in docs/seeds.md, by their numbers. */
const server = seedServer();
const { call, start, busy, job, reclaimed } = server;

async function enqueue(type: string, payload: object = {}, more: object = {}): Promise<string> {
  const { status, body } = await call('POST', '/api/jobs/enqueue', { type, payload, ...more });
  expect([status, body.status]).toEqual([202, 'pending']);
  return body.id as string;
}

const look = async (id: string) => (await call('GET', `/api/jobs/${id}`)).body;
const has = async (id: string, fields: { status: string; attempt?: number }) =>
  await until(`it is ${fields.status}`, async () => {
    const shown = await look(id);
    const { status, attempt = shown.attempt } = fields;
    return shown.status === status && shown.attempt === attempt && shown;
  });
const dead = async (id: string) => await has(id, { status: 'dead_letter' });

it('004-04 two requests at once with one key get one job', async () => {
  const more = { idempotencyKey: 'unique-key' };
  const ids = await Promise.all([enqueue('hello', {}, more), enqueue('hello', {}, more)]);
  expect(ids[0]).toBe(ids[1]);
  await has(ids[0], { status: 'success' });
});

it('004-13 004-14 the last attempt makes a dead letter, and each one is recorded', async () => {
  const shown = await dead(await enqueue('fails', { status: 503 }));
  expect(shown).toMatchObject({ attempt: 3, maxAttempts: 3, errorCode: 'UPSTREAM_5XX' });
  const one = {
    startedAt: expect.any(String) as string,
    finishedAt: expect.any(String) as string,
    durationMs: expect.any(Number) as number,
    errorCode: 'UPSTREAM_5XX',
  };
  expect(shown.attempts).toMatchObject([one, one, one]);
});

it('004-16 a reclaimed job has a line in the log', async () => {
  const { jobId } = await reclaimed();
  const line = await until('it is logged', () =>
    server.running
      .stderr()
      .split('\n')
      .find((text) => text.includes('job.reclaimed') && text.includes(jobId)),
  );
  expect(JSON.parse(line)).toMatchObject({ jobId, code: 'LEASE_EXPIRED', attempt: 1 });
});

it('004-18 dead letters are found by type, code and time', async () => {
  const from = new Date(Date.now() - 60_000).toISOString();
  const id = await enqueue('typed', { n: 'x' }, { skipValidation: true });
  await dead(id);
  const find = async (query: string) => {
    const { body } = await call('GET', `/v1/dead-letters?definitionKey=typed&${query}`);
    return (body.jobs as { jobId: string }[]).map(({ jobId }) => jobId);
  };
  expect(await find(`errorCode=PAYLOAD_INVALID&from=${from}`)).toContain(id);
  expect(await find(`errorCode=TIMEOUT&from=${from}`)).toEqual([]);
  expect(await find(`errorCode=PAYLOAD_INVALID&to=${from}`)).toEqual([]);
});

it('004-21 004-23 a payload against its schema, or too large, is an EnqueueError', async () => {
  const body = { type: 'typed', payload: { n: 'x' } };
  const refused = await call('POST', '/api/jobs/enqueue', body);
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ name: 'EnqueueError', code: 'PAYLOAD_INVALID' });
  const thrown = async (params: object) =>
    await server.client.enqueue('typed', params).catch((error: unknown) => error);
  for (const [params, code] of [
    [{ n: 'x' }, 'PAYLOAD_INVALID'],
    [{ text: 'x'.repeat(131_072) }, 'PAYLOAD_TOO_LARGE'],
  ] as const) {
    const error = await thrown(params);
    expect(error).toBeInstanceOf(EnqueueError);
    expect(error).toMatchObject({ code });
  }
});

it('004-22 004-34 skipValidation stores it, and the run makes it a dead letter', async () => {
  const shown = await dead(await enqueue('typed', { n: 'x' }, { skipValidation: true }));
  expect(shown).toMatchObject({ errorCode: 'PAYLOAD_INVALID' });
});

it('004-29 429 waits as Retry-After says', async () => {
  const id = await enqueue('fails', { status: 429, retryAfter: '3600' });
  const shown = await has(id, { status: 'pending', attempt: 1 });
  await until('it has failed', async () => (await look(id)).errorCode === 'RATE_LIMITED');
  const { nextRunAt } = await look(id);
  // Its policy would be a millisecond.
  expect(Date.parse(nextRunAt as string) - Date.parse(shown.createdAt)).toBeGreaterThan(1_800_000);
});

it('004-30 004-31 5xx and other errors have codes of their own', async () => {
  expect(await dead(await enqueue('fails', { status: 503 }))).toMatchObject({
    errorCode: 'UPSTREAM_5XX',
  });
  expect(await dead(await enqueue('fails'))).toMatchObject({
    errorCode: 'HANDLER_ERROR',
    attempt: 1,
  });
});

it('004-37 004-38 a success stays; a dead letter is retried now, later or anew', async () => {
  const retry = async (id: string, mode: string) =>
    await call('POST', `/api/jobs/${id}/retry`, { mode });
  const ended = await enqueue('hello');
  await has(ended, { status: 'success' });
  expect((await retry(ended, 'now')).status).toBe(409);
  const id = await enqueue('fails', { fatal: true });
  await dead(id);
  expect(await retry(id, 'now')).toMatchObject({ status: 202, body: { id, status: 'pending' } });
  await has(id, { status: 'dead_letter', attempt: 2 });
  expect((await retry(id, 'reset')).status).toBe(202);
  await has(id, { status: 'dead_letter', attempt: 1 });
  const slow = await enqueue('fails.slowly', { fatal: true });
  await dead(slow);
  expect((await retry(slow, 'later')).status).toBe(202);
  const { status, nextRunAt } = await look(slow);
  expect(status).toBe('pending');
  expect(Date.parse(nextRunAt as string)).toBeGreaterThan(Date.now());
});

it('004-57 004-58 statistics have the depth and the quantiles of a type', async () => {
  await start('of.no.worker');
  await job(await start('hello'), 'succeeded');
  const { jobId } = await busy('transcode.video');
  const stats = await until('they are counted', async () => {
    const { definitions } = await server.client.stats();
    const of = (key: string) => definitions.find((one) => one.key === key);
    const [waiting, ended] = [of('of.no.worker'), of('hello')];
    return waiting?.depth === 1 && ended?.runMs.p50 && { waiting, ended };
  });
  expect(stats.ended.runMs).toMatchObject({ p95: expect.anything(), p99: expect.anything() });
  await call('POST', `/v1/jobs/${jobId}/cancel`);
});
