import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import type { EventView } from '../../../src/core/views/history.ts';
import { callAs, serverOn } from '../../support/server-edge.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { seedServer } from '../../support/servers/seed-server.ts';
import { until } from '../../support/until.ts';

/** Rows of seed 000 in docs/seeds.md, by their numbers. */
const server = seedServer();
const { call, start, busy, job, database } = server;

const eventsOf = async (jobId: string): Promise<EventView[]> =>
  (await call('GET', `/v1/jobs/${jobId}/events`)).body.events;
const typesOf = async (jobId: string) => (await eventsOf(jobId)).map(({ type }) => type);

async function cancelled(...jobIds: string[]) {
  for (const jobId of jobIds) {
    await call('POST', `/v1/jobs/${jobId}/cancel`);
    await job(jobId, 'cancelled');
  }
}

async function pidOf(jobId: string): Promise<unknown> {
  return await until('it says in which process it runs', async () => {
    const said = (await eventsOf(jobId)).find(({ type }) => type === 'custom');
    return (said?.payload as { payload: number } | undefined)?.payload;
  });
}

it('000-03 jobs that run at the same time have processes of their own', async () => {
  const [one, other] = [await busy('transcode.video'), await busy('transcode.video')];
  const pids = [await pidOf(one.jobId), await pidOf(other.jobId), server.running.pid];
  expect(new Set(pids).size).toBe(3);
  await cancelled(one.jobId, other.jobId);
});

it('000-09 no workflow engine is among the dependencies', () => {
  const file = new URL('../../../package.json', import.meta.url);
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as Record<string, Record<string, string>>;
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  expect(names.length).toBeGreaterThan(5);
  const engines = /temporal|workflow|inngest|bull|pg-boss|graphile/;
  expect(names.filter((name) => engines.test(name))).toEqual([]);
});

it('000-11 what one API server stores, another one shows', async () => {
  const other = serverOn(database);
  onTestFinished(async () => await other.close());
  const jobId = await start('hello');
  const { status, body } = await callAs(other, null, 'GET', `/v1/jobs/${jobId}`);
  expect([status, body['jobId']]).toEqual([200, jobId]);
});

it('000-12 jobs, schedules, events and leases are tables', async () => {
  const rows = await database.sql<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'longshore'`,
  );
  const names = rows.map(({ name }) => name);
  for (const name of ['job.params', 'schedule.cron', 'event.payload', 'worker.lease_until']) {
    expect(names).toContain(name);
  }
});

it('000-16 heartbeats renew the lease of a job that runs', async () => {
  const { jobId, leaseExpiresAt } = await busy('transcode.video');
  const later = await until('its lease is renewed', async () => {
    const now = await server.client.get(jobId);
    return (now.leaseExpiresAt ?? '') > (leaseExpiresAt ?? '') && now;
  });
  expect(later).toMatchObject({ status: 'running', attempts: 1 });
  expect(later.heartbeatAt).not.toBeNull();
  await cancelled(jobId);
});

it('000-21 concurrencyLimitPerKey lets one job of a key run at a time', async () => {
  const first = await busy('keyed', { concurrencyKey: 'a' });
  const second = await start('keyed', {}, { concurrencyKey: 'a' });
  const other = await busy('keyed', { concurrencyKey: 'b' });
  expect(await server.client.get(second)).toMatchObject({ status: 'queued', attempts: 0 });
  await cancelled(first.jobId);
  await job(second, 'running');
  await cancelled(second, other.jobId);
});

it('000-22 a job has the fields of the document', async () => {
  const options = { maxAttempts: 1, idempotencyKey: 'fields' };
  const jobId = await start('fails', { status: 503 }, options);
  expect(await job(jobId, 'failed')).toMatchObject({
    jobId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    definitionKey: 'fails',
    params: { status: 503 },
    status: 'failed',
    priority: 0,
    attempts: 1,
    maxAttempts: 1,
    queuedAt: expect.any(String) as string,
    startedAt: expect.any(String) as string,
    finishedAt: expect.any(String) as string,
    heartbeatAt: null,
    leaseExpiresAt: null,
    workerId: null,
    errorSummary: 'UPSTREAM_5XX: it failed',
    cancelRequestedAt: null,
    idempotencyKey: 'fields',
  });
});

it('000-24 a job is queued, runs and has succeeded', async () => {
  const jobId = await start('hello');
  await job(jobId, 'succeeded');
  const types = await typesOf(jobId);
  expect(types.filter((type) => ['queued', 'started', 'succeeded'].includes(type))).toEqual([
    'queued',
    'started',
    'succeeded',
  ]);
});

it('000-34 a concurrency limit of 0 is none', async () => {
  const [one, other] = [await busy('free'), await busy('free')];
  expect((await server.client.get(one.jobId)).status).toBe('running');
  await cancelled(one.jobId, other.jobId);
});

it('000-36 a job has the defaults of the document', async () => {
  const { body } = await call('POST', '/v1/jobs', { definitionKey: 'of.no.worker' });
  expect(await server.client.get(body.jobId as string)).toMatchObject({
    definitionVersion: 1,
    params: {},
    status: 'queued',
    priority: 0,
    attempts: 0,
    maxAttempts: 3,
  });
});

it('000-38 the history tells how a job began and ended', async () => {
  const jobId = await start('fails', { fatal: true });
  await job(jobId, 'failed');
  expect(await typesOf(jobId)).toEqual(expect.arrayContaining(['started', 'failed']));
  const other = await busy('transcode.video');
  await cancelled(other.jobId);
  expect(await typesOf(other.jobId)).toEqual(expect.arrayContaining(['started', 'cancelled']));
});

it('000-40 a schedule has the fields of the document', async () => {
  const asked = {
    definitionKey: 'hello',
    definitionVersion: 1,
    cron: '0 2 * * *',
    params: { a: 1 },
    priority: 5,
    enabled: false,
  };
  const { status, body } = await call('POST', '/v1/schedules', asked);
  expect([status, body]).toMatchObject([201, { ...asked, lastEnqueuedAt: null }]);
  const made = await call('POST', `/v1/schedules/${body.id}/trigger`);
  await job(made.body.jobId as string, 'succeeded');
  const shown = await call('GET', `/v1/schedules/${body.id}`);
  expect(shown.body.lastEnqueuedAt).toEqual(expect.any(String));
});

const EXAMPLE = {
  definitionKey: 'transcode.video',
  definitionVersion: 1,
  params: { url: 'https://example.com/video.mp4' },
  priority: 5,
  maxAttempts: 3,
  idempotencyKey: 'upload-123',
};

it('000-41 000-42 000-43 000-44 000-52 the API takes and gives the examples', async () => {
  const { status, body } = await call('POST', '/v1/jobs', EXAMPLE);
  const { jobId } = body as { jobId: string };
  expect([status, body]).toEqual([202, { jobId, status: 'queued' }]);
  await job(jobId, 'running');
  expect((await call('GET', `/v1/jobs/${jobId}`)).body).toMatchObject({
    ...EXAMPLE,
    jobId,
    status: 'running',
    attempts: 1,
    startedAt: expect.any(String) as string,
    heartbeatAt: expect.any(String) as string,
    leaseExpiresAt: expect.any(String) as string,
    workerId: expect.any(String) as string,
  });
  expect(await typesOf(jobId)).toContain('started');
  expect((await call('POST', `/v1/jobs/${jobId}/cancel`)).status).toBe(202);
  await job(jobId, 'cancelled');
  const { jobId: second } = await busy('transcode.video');
  await cancelled(second);
  const list = '/v1/jobs?status=failed|cancelled&definitionKey=transcode.video&limit=1';
  const first = (await call('GET', list)).body;
  expect(first.jobs).toHaveLength(1);
  const next = (await call('GET', `${list}&cursor=${first.nextCursor}`)).body;
  expect(next.jobs[0].jobId).not.toBe(first.jobs[0].jobId);
});

it('000-49 a worker has the code of each version', async () => {
  const two = await server.client.enqueue('hello', {}, { definitionVersion: 2 });
  const one = await server.client.enqueue('hello', {}, { definitionVersion: 1 });
  expect([await one.result(), await two.result()]).toEqual(['one', 'two']);
});

it('000-67 000-69 MAX_CONCURRENT_EXECUTIONS and CANCEL_GRACE_MS are settings', async () => {
  const { settings } = await server.client.settings();
  const values = new Map(settings.map(({ name, value }) => [name, value]));
  expect(values.get('LONGSHORE_CONCURRENCY')).toBe(5);
  expect(values.get('LONGSHORE_CANCEL_GRACE_MS')).toBe(700);
  expect((await server.client.workers())[0]?.slots).toBe(5);
});

it('000-70 a webhook subscribes to the hooks of the document', async () => {
  const receiver = await startReceiver();
  onTestFinished(async () => await receiver.close());
  const events = ['onStart', 'onSuccess', 'onFail', 'onEnd'];
  const made = await call('POST', '/v1/webhooks', { url: receiver.url, events });
  expect(made.status).toBe(201);
  await (await server.client.enqueue('hello')).result();
  const received = await receiver.have(3);
  const types = received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  expect(types.map((type) => type.replace(/^.*\.job/, 'job')).sort()).toEqual([
    'job.finished',
    'job.started',
    'job.succeeded',
  ]);
  await call('DELETE', `/v1/webhooks/${made.body.id}`);
});

it('000-74 metrics have what the document lists', async () => {
  const { body } = await call('GET', '/metrics');
  for (const name of [
    'longshore_jobs{',
    'longshore_jobs_finished_total{',
    'longshore_job_run_seconds_bucket{',
    'longshore_job_retries_total',
    'longshore_leases_expired_total',
  ]) {
    expect(body).toContain(name);
  }
});
