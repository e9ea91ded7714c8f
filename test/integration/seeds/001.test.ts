import { expect, it } from 'vitest';
import { claimAny, newWorker } from '../../support/jobs.ts';
import { seedServer } from '../../support/servers/seed-server.ts';
import { until } from '../../support/until.ts';

/** Rows of seed 001 in docs/seeds.md, by their numbers. */
const server = seedServer();
const { call, start, busy, job, database } = server;

const statusOf = async (jobId: string) => (await server.client.get(jobId)).status;

it('001-09 001-10 a held job is stored and runs only after the API has released it', async () => {
  const held = await start('hello', {}, { hold: true });
  await job(await start('hello'), 'succeeded');
  expect(await claimAny(database, await newWorker(database), 9)).toEqual([]);
  expect(await statusOf(held)).toBe('created');
  expect((await call('POST', `/v1/jobs/${held}/release`)).status).toBe(202);
  await job(held, 'succeeded');
});

it('001-15 001-49 a success is the end: no owner, no lease, no other run', async () => {
  const jobId = await start('hello');
  const done = await job(jobId, 'succeeded');
  expect(done).toMatchObject({ workerId: null, leaseExpiresAt: null, attempts: 1 });
  expect(await call('POST', `/v1/jobs/${jobId}/retry`, {})).toMatchObject({ status: 409 });
  expect(await claimAny(database, await newWorker(database), 9)).toEqual([]);
});

it('001-16 a job that is retried cannot be claimed before its time', async () => {
  const waiting = await job(await start('fails.slowly', { status: 503 }), 'retrying');
  expect(Date.parse(waiting.runAt ?? '')).toBeGreaterThan(Date.now());
  expect(await claimAny(database, await newWorker(database), 9)).toEqual([]);
});

it('001-17 a job is dead after its last attempt, or a fatal error', async () => {
  const last = await job(await start('fails', { status: 503 }, { maxAttempts: 2 }), 'failed');
  const fatal = await job(await start('fails', { fatal: true }), 'failed');
  expect([last.attempts, last.maxAttempts]).toEqual([2, 2]);
  expect([fatal.attempts, fatal.maxAttempts]).toEqual([1, 3]);
});

it('001-26 001-27 a running job has a lease, and its times follow it', async () => {
  const { jobId, createdAt, updatedAt, leaseExpiresAt } = await busy('transcode.video');
  expect(Date.parse(leaseExpiresAt ?? '')).toBeGreaterThan(Date.parse(createdAt));
  await call('POST', `/v1/jobs/${jobId}/cancel`);
  const done = await job(jobId, 'cancelled');
  expect(done.createdAt).toBe(createdAt);
  expect(done.updatedAt > updatedAt).toBe(true);
});

it('001-29 001-36 POST /jobs records a job, and GET /jobs says what became of it', async () => {
  const intent = async (jobType: string, payload: object = {}) => {
    const { status, body } = await call('POST', '/jobs', { jobType, payload });
    expect([status, body.status]).toEqual([202, 'PENDING']);
    return body.jobId as string;
  };
  const becomes = async (jobId: string, status: string) =>
    await until(`it is ${status}`, async () => {
      const { body } = await call('GET', `/jobs/${jobId}`);
      return body.status === status;
    });
  // The request is answered although the job never ends by itself.
  const endless = await intent('transcode.video');
  await becomes(endless, 'RUNNING');
  await becomes(await intent('hello'), 'COMPLETED');
  await becomes(await intent('fails', { fatal: true }), 'FAILED');
  await becomes(await intent('of.no.worker'), 'PENDING');
  await call('POST', `/v1/jobs/${endless}/cancel`);
});

it('001-39 001-40 a key is stored with its job, and the database keeps it unique', async () => {
  const asked = { jobType: 'hello', idempotencyKey: 'req_550e8400' };
  const { body } = await call('POST', '/jobs', asked);
  const stored = await database.sql('select idempotency_key from longshore.job where id = $1', [
    body.jobId,
  ]);
  expect(stored).toEqual([{ idempotency_key: 'req_550e8400' }]);
  const again = `insert into longshore.dedupe select * from longshore.dedupe
    where job_id = $1`;
  await expect(database.sql(again, [body.jobId])).rejects.toThrow('duplicate key');
});

it('001-48 no transaction is open while a job runs', async () => {
  const { jobId } = await busy('transcode.video');
  await until('none is open', async () => {
    const open = await database.sql(
      `select 1 from pg_stat_activity where datname = current_database()
       and pid <> pg_backend_pid() and xact_start is not null`,
    );
    return open.length === 0;
  });
  expect(await statusOf(jobId)).toBe('running');
  await call('POST', `/v1/jobs/${jobId}/cancel`);
});
