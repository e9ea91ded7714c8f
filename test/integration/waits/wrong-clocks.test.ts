import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import { defineJob, SignalTimeout } from '../../../src/core/definition/define.ts';
import { shardOfJobId } from '../../../src/core/job/job-id.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { saveStep } from '../../../src/store/attempt/steps.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import type { WorkerOptions } from '../../../src/worker/worker.ts';
import { claimAny, enqueueOne, loseLease, newWorker } from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { apiOn, remoteWorker } from '../../support/servers/remote.ts';
import { jobEnded, scheduling, type TestWorker, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** Sleeps and waits end by the database's clock, also where the clocks of workers are wrong. */

const HOUR_MS = 3_600_000;
const database = sharedDatabase({ shards: 1 });
const stops: (() => Promise<void>)[] = [];
let url: string;

const JOBS = [
  defineJob({
    key: 'sleeper',
    isolation: 'inline',
    run: async ({ ms }: { ms: number }, ctx) => {
      await ctx.sleep(ms);
      return ctx.attempt;
    },
  }),
  defineJob({
    key: 'waiter',
    isolation: 'inline',
    run: async ({ timeoutMs }: { timeoutMs: number }, ctx) => {
      try {
        return await ctx.waitFor('go', { timeoutMs });
      } catch (error) {
        if (error instanceof SignalTimeout) return 'no signal';
        throw error;
      }
    },
  }),
];

/** The clock of a worker that is wrong by so much. */
const clockOff = (ms: number): Clock => ({
  ...systemClock,
  now: () => new Date(Date.now() + ms),
});

beforeAll(async () => {
  const api = await apiOn(database);
  url = api.url;
  stops.push(await scheduling(database), async () => await api.close());
});

afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

type Start = (changes: Partial<WorkerOptions> & Pick<WorkerOptions, 'jobs'>) => TestWorker;

/** Does something while such a worker runs. */
async function withWorker<T>(start: Start, offMs: number, work: () => Promise<T>): Promise<T> {
  const { worker, stop } = start({ jobs: JOBS, clock: clockOff(offMs) });
  try {
    await worker.start();
    return await work();
  } finally {
    await stop();
  }
}

const enqueue = async (definitionKey: string, params: object) =>
  await enqueueOne(database, { definitionKey, paramsJson: JSON.stringify(params) });

const becomes = async (jobId: string, status: string) =>
  await until(`it is ${status}`, async () => {
    const job = await getJob(database.db, DEFAULT_TENANT, jobId);
    return job?.status === status && job;
  });

/** A worker dies when the sleep is stored, before the attempt has ended. */
async function diedInSleep(jobId: string, name: string, value: unknown): Promise<void> {
  const worker = await newWorker(database);
  const [job] = await claimAny(database, worker, 1);
  expect(job?.id).toBe(jobId);
  const step = { id: jobId, claim: job?.claim ?? 0, name, valueJson: JSON.stringify(value) };
  expect(await saveStep(database.db, shardOfJobId(jobId), step)).toBe(true);
  await loseLease(database, worker);
}

/** How long after its step a job runs again, in milliseconds of the database. */
async function waitMs(jobId: string, step: string): Promise<number> {
  const [row] = await database.sql<{ ms: number }>(
    `select (extract(epoch from w.run_at - s.at) * 1000)::float8 as ms
     from longshore.waiting w join longshore.step s on s.shard = w.shard and s.job_id = w.id
     where w.id = $1 and s.name = $2`,
    [jobId, step],
  );
  return row?.ms ?? Number.NaN;
}

describe.each<[string, Start]>([
  ['a worker with a database', (changes) => workerOn(database, changes)],
  ['a worker over HTTP', (changes) => remoteWorker(url, changes)],
])('%s', (_, start) => {
  it('an hour ahead begins a sleep that is not longer for the next one', async () => {
    const jobId = await enqueue('sleeper', { ms: 50 });
    await withWorker(start, HOUR_MS, async () => await becomes(jobId, 'scheduled'));
    const ended = await withWorker(start, 0, async () => await jobEnded(database, jobId));
    expect(ended).toMatchObject({ status: 'succeeded', result: 1 });
  });

  it('hours ahead goes on with a sleep that has just begun', async () => {
    const jobId = await enqueue('sleeper', { ms: HOUR_MS });
    await diedInSleep(jobId, 'sleep:1', HOUR_MS);
    await withWorker(start, 2 * HOUR_MS, async () => await becomes(jobId, 'scheduled'));
    const ms = await waitMs(jobId, 'sleep:1');
    expect(ms).toBeGreaterThanOrEqual(HOUR_MS);
    // The way of the job to the worker and back.
    expect(ms).toBeLessThan(HOUR_MS + 60_000);
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
  });

  it('hours ahead goes on with a wait that has just begun', async () => {
    const jobId = await enqueue('waiter', { timeoutMs: HOUR_MS });
    await diedInSleep(jobId, 'wait:go', { timeoutMs: HOUR_MS, schema: null });
    await withWorker(start, 2 * HOUR_MS, async () => await becomes(jobId, 'suspended'));
    expect(await waitMs(jobId, 'wait:go')).toBeGreaterThanOrEqual(HOUR_MS);
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
  });

  it('counts the time of a sleep that passed while no worker had the job', async () => {
    const jobId = await enqueue('sleeper', { ms: HOUR_MS });
    await diedInSleep(jobId, 'sleep:1', HOUR_MS);
    await database.sql("update longshore.step set at = at - interval '59 minutes'");
    await withWorker(start, -HOUR_MS, async () => await becomes(jobId, 'scheduled'));
    const ms = await waitMs(jobId, 'sleep:1');
    expect(ms).toBeGreaterThanOrEqual(HOUR_MS);
    expect(ms).toBeLessThan(HOUR_MS + 60_000);
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
  });
});
