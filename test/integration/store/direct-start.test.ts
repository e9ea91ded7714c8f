import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { defineJob } from '../../../src/index.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { testDatabase } from '../../support/servers/database.ts';
import { request } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { scheduling, workerOn } from '../../support/servers/worker.ts';

/** Whoever holds this lock holds up every statement that stores a running job. */
const LIMITER = `
  create function public.wait_at_limiter() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(42); return new; end $$;
  create trigger wait_at_limiter before insert on longshore.running
    for each row execute function public.wait_at_limiter()`;

it('a job that was handed over to a worker that lost its lease meanwhile does not begin there', async () => {
  const database = await testDatabase();
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  const began: number[] = [];
  const handed = defineJob({
    key: 'handed',
    isolation: 'inline',
    run: (_params, { attempt }) => void began.push(attempt),
  });
  const { worker, stop } = workerOn(database, { jobs: [handed], heartbeatMs: 100 });
  onTestFinished(async () => {
    await stop();
    await holder.end();
    await database.close();
  });
  await worker.start();
  const enqueuer = new Enqueuer(database.db, database.waker, systemClock, worker.directStart);
  const enqueue = async () => {
    const [answer] = await enqueuer.start([request({ definitionKey: 'handed', maxAttempts: 5 })]);
    return answer ?? { jobId: '', status: null };
  };
  const ended = async (id: string) =>
    await until('the job has ended', async () => {
      const job = await getJob(database.db, 'default', id);
      return job?.status === 'succeeded' ? job : null;
    });
  const living = async () =>
    await database.sql<{ instance: string }>(
      'select instance from longshore.worker where dead_at is null',
    );
  // A worker grants no slot before it has looked at its lines.
  await until('jobs are handed over', async () => {
    const { jobId, status } = await enqueue();
    await ended(jobId);
    return status === 'running';
  });
  began.length = 0;

  await database.sql(LIMITER);
  await holder.query('select pg_advisory_lock(42)');
  const [former] = await living();
  const storing = enqueue();
  await until('the job is being stored', async () => {
    const { rows } = await holder.query(
      `select 1 from pg_locks where locktype = 'advisory' and objid = 42 and not granted`,
    );
    return rows.length > 0;
  });
  await database.sql('update longshore.worker set dead_at = clock_timestamp()');
  await until('the worker is back as another', async () => {
    const [now] = await living();
    return now !== undefined && now.instance !== former?.instance;
  });
  await holder.query('select pg_advisory_unlock(42)');
  const { jobId, status } = await storing;
  expect(status).toBe('running');

  const stopScheduling = await scheduling(database);
  onTestFinished(stopScheduling);
  expect(await ended(jobId)).toMatchObject({ attempts: 2 });
  expect(began).toEqual([2]);
});
