import { afterEach, describe, expect, it } from 'vitest';
import { defineJob, type JobDefinition } from '../../../src/core/definition/define.ts';
import type { LimitsInput } from '../../../src/core/queue/limits.ts';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import { changeLimits } from '../../../src/store/limits/limits.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { expectNoDrift } from '../../support/limits.ts';
import { request } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

/**
 * Workers that look for work by themselves only once in ten minutes: what they do here they do because
 * they know that they may go on.
 */
const pollMs = 600_000;

const database = sharedDatabase();
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  await expectNoDrift(database);
});

let defined = 0;

/** A definition that counts how many of its jobs run at once. */
function counting(limits: LimitsInput): { job: JobDefinition; most: () => number } {
  let now = 0;
  let most = 0;
  defined += 1;
  const job = defineJob({
    key: `counting-${defined}`,
    isolation: 'inline',
    ...limits,
    run: async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
    },
  });
  return { job, most: () => most };
}

async function start(jobs: JobDefinition[], listens: boolean): Promise<void> {
  const databaseUrl = listens ? database.url : null;
  const { worker, stop } = workerOn(database, { jobs, pollMs, databaseUrl, slots: 8 });
  stops.push(stop);
  await worker.start();
}

const enqueue = async ({ key }: JobDefinition, count: number, changes: Partial<JobRequest> = {}) =>
  await database.enqueuer.start(
    Array.from({ length: count }, () => request({ definitionKey: key, ...changes })),
  );

const allEnded = async (answers: { jobId: string }[]) => {
  for (const { jobId } of answers) {
    expect(await jobEnded(database, jobId)).toMatchObject({ status: 'succeeded' });
  }
};

describe.each([true, false])('a worker that listens for hints: %s', (listens) => {
  it('goes on when a token comes back', async () => {
    const { job, most } = counting({ concurrencyLimit: 2 });
    const answers = await enqueue(job, 7);
    await start([job], listens);
    await allEnded(answers);
    expect(most()).toBe(2);
  });

  it('goes on with the next job of a key', async () => {
    const { job, most } = counting({ concurrencyKeyLimit: 1 });
    // The limit of keys is known before the jobs come, as it is when a worker was there before.
    await start([job], listens);
    const answers = await enqueue(job, 5, { concurrencyKey: 'a' });
    if (!listens) await start([job], false);
    await allEnded(answers);
    expect(most()).toBe(1);
  });

  it('goes on when a rate allows it', async () => {
    const { job } = counting({ rateLimit: { limit: 100, perMs: 1_000, burst: 1 } });
    const answers = await enqueue(job, 5);
    await start([job], listens);
    await allEnded(answers);
  });

  it('runs what is free beside what is blocked', async () => {
    const blocked = counting({ rateLimit: { limit: 1, perMs: 3_600_000 } });
    const free = counting({});
    const first = await enqueue(blocked.job, 3, { priority: 5 });
    const answers = await enqueue(free.job, 20);
    await start([blocked.job, free.job], listens);
    await allEnded([...answers, ...first.slice(0, 1)]);
    const lines = 'select from longshore.waiting where seq is not null';
    expect(await database.sql(lines)).toHaveLength(2);
    await database.sql('truncate longshore.waiting');
  });
});

it('several workers share a permit, and notice a raised limit', async () => {
  const { job, most } = counting({ concurrencyLimit: 1 });
  await start([job], true);
  await start([job], true);
  await allEnded(await enqueue(job, 6));
  expect(most()).toBe(1);

  const open = Promise.withResolvers<void>();
  const key = 'patient';
  const run = async () => await open.promise;
  const patient = defineJob({ key, isolation: 'inline', concurrencyLimit: 1, run });
  await start([patient], true);
  const answers = await enqueue(patient, 4);
  const running = async () => (await database.sql('select from longshore.running')).length;
  await until('one runs', async () => (await running()) === 1);
  await changeLimits(database.db, 'definition', key, { concurrencyLimit: 4 }, null);
  await until('four run', async () => (await running()) === 4);
  open.resolve();
  await allEnded(answers);
});

it('the rate of a key is kept up with by the loop that lets its jobs in', async () => {
  const { job } = counting({ keyRateLimit: { limit: 50, perMs: 1_000, burst: 1 } });
  stops.push(await scheduling(database));
  await start([job], true);
  await allEnded(await enqueue(job, 4, { concurrencyKey: 'a' }));
});
