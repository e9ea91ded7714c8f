import { expect, it } from 'vitest';
import { configOf } from '../../../src/config/options.ts';
import { BEAT_TIMING } from '../../../src/core/queue/lease.ts';
import { ownsBucket } from '../../../src/core/schedule/schedule-id.ts';
import { seedServer } from '../../support/servers/seed-server.ts';

/** Rows of seed 002 in docs/seeds.md, by their numbers. */
const server = seedServer();
const { call, start, busy, job, reclaimed } = server;

it('002-14 002-15 a submitted schedule has its first run', async () => {
  const asked = { name: 'customer_sync', definitionKey: 'hello', cron: '0 2 * * *' };
  const { status, body } = await call('POST', '/v1/schedules', asked);
  expect(status).toBe(201);
  expect(body.nextAt).toMatch(/T02:00:00\.000Z$/);
});

it('002-10 002-11 002-12 the runs of a schedule are listed, past and to come', async () => {
  const { body } = await call('POST', '/v1/schedules', {
    definitionKey: 'hello',
    cron: '0 2 * * *',
  });
  const path = `/v1/schedules/${body.id}`;
  const ids: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    const { jobId } = (await call('POST', `${path}/trigger`)).body;
    await job(jobId as string, 'succeeded');
    ids.unshift(jobId as string);
  }
  const { slots } = (await call('GET', `${path}/slots`)).body;
  expect(slots).toMatchObject(
    ids.map((jobId) => ({
      jobId,
      slot: expect.any(String) as string,
      status: 'fired',
      jobStatus: 'succeeded',
    })),
  );
  const { next } = (await call('GET', `${path}/next`)).body;
  expect(next.length).toBeGreaterThan(1);
  expect(next[0].at < next[1].at).toBe(true);
});

it('002-23 002-24 a job names its worker, and the worker its jobs', async () => {
  const { jobId, workerId } = await busy('transcode.video');
  const workers = await server.client.workers();
  expect(workers.find((one) => one.workerId === workerId)?.running).toContain(jobId);
  await call('POST', `/v1/jobs/${jobId}/cancel`);
  await job(jobId, 'cancelled');
  await job(await start('hello'), 'succeeded');
});

it('002-26 a job without attempts left is a dead letter', async () => {
  const jobId = await start('fails', { status: 503 });
  await job(jobId, 'failed');
  const { jobs } = (await call('GET', '/v1/dead-letters?definitionKey=fails')).body;
  expect(jobs).toMatchObject([{ jobId, attempts: 3, error: { code: 'UPSTREAM_5XX' } }]);
});

it('002-33 the ranges of the document go to its three schedulers', () => {
  const ranges = [0, 1, 2, 3, 4, 5, 6, 7];
  const of = (ordinal: number) =>
    ranges.filter((range) => ownsBucket(range, { count: 3, ordinal }));
  expect([of(0), of(1), of(2)]).toEqual([
    [0, 3, 6],
    [1, 4, 7],
    [2, 5],
  ]);
});

it('002-44 002-64 the run of a dead worker is lost, queued again and charged', async () => {
  const { jobId, attempts, error } = await reclaimed();
  expect([attempts, error?.code]).toEqual([1, 'LEASE_EXPIRED']);
  const { events } = (await call('GET', `/v1/jobs/${jobId}/events`)).body;
  expect(events).toContainEqual(expect.objectContaining({ type: 'lease_lost' }));
});

it('002-55 heartbeats and leases with Redis are those of the document', () => {
  expect(BEAT_TIMING).toEqual({ everyMs: 10_000, ttlMs: 30_000 });
  expect(configOf({}, [])).toMatchObject({ heartbeatMs: 10_000, redisLeaseMs: 120_000 });
});
