import { expect, it, onTestFinished } from 'vitest';
import { defineJob, type JobDefinition } from '../../../src/core/definition/define.ts';
import { readAttempts } from '../../../src/store/read/read-attempts.ts';
import { claimAny, loseLease, newWorker } from '../../support/jobs.ts';
import { callAs, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

/** Rows of seed 003 in docs/seeds.md, by their numbers. */
const database = sharedDatabase();
const app = sharedServer(database);

const JOBS = [
  defineJob({ key: 'done', isolation: 'inline', run: () => 'done' }),
  defineJob({
    key: 'late',
    isolation: 'inline',
    timeoutSeconds: 0.1,
    retry: { baseMs: 1, maxMs: 1 },
    run: async (_: unknown, { attempt, abortSignal }) => {
      if (attempt > 1) return;
      await new Promise((_, reject) => abortSignal.addEventListener('abort', reject));
    },
  }),
] as JobDefinition[];

async function queue(type: string): Promise<string> {
  const { body } = await callAs(app, null, 'POST', '/jobber/queue', { payload: { type } });
  return String(body['job-id']);
}

async function work(): Promise<void> {
  const { worker, stop } = workerOn(database, { jobs: JOBS });
  onTestFinished(stop);
  await worker.start();
  onTestFinished(await scheduling(database));
}

const inProcess = async () => await database.sql('select 1 from longshore.running');

it('003-05 003-14 another worker executes the job of a failed one, and the lock is gone', async () => {
  const jobId = await queue('done');
  const failed = await newWorker(database);
  expect(await claimAny(database, failed, 1)).toHaveLength(1);
  await loseLease(database, failed);
  await work();
  expect(await jobEnded(database, jobId)).toMatchObject({ status: 'succeeded', attempts: 2 });
  expect(await inProcess()).toEqual([]);
});

it('003-07 003-15 a job with an active lock is neither visible nor recovered', async () => {
  const jobId = await queue('done');
  const [owner, other] = [await newWorker(database), await newWorker(database)];
  expect((await claimAny(database, owner, 1))[0]?.id).toBe(jobId);
  await loseLease(database, other);
  expect(await claimAny(database, await newWorker(database), 9)).toEqual([]);
  expect(await inProcess()).toHaveLength(1);
  await loseLease(database, owner);
});

it('003-08 an attempt that takes too long ends, and the job runs again', async () => {
  const jobId = await queue('late');
  await work();
  const job = await jobEnded(database, jobId);
  expect(job).toMatchObject({ status: 'succeeded', attempts: 2 });
  const [first] = (await readAttempts(database.db, 'default', jobId)) ?? [];
  expect(first?.error?.code).toBe('TIMEOUT');
});
