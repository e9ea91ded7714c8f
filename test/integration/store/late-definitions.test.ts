import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { defineJob, type JobDefinition } from '../../../src/core/definition/define.ts';
import type { DefinitionPolicy } from '../../../src/core/definition/definition.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { failUnserved } from '../../../src/scheduler/unserved.ts';
import { JobLog } from '../../../src/signals/job-log.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { SWEEP_START, sweepLimiters } from '../../../src/store/limits/sweep-limiters.ts';
import { syncLimits } from '../../../src/store/limits/sync-limits.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { clearFlow, take } from '../../support/limits.ts';
import { claimAny, enqueueOne, newWorker, request } from '../../support/jobs.ts';
import { jobEnded, workerOn } from '../../support/servers/worker.ts';

/** Jobs that are made before any worker has published their definition. It counts all the same. */
const database = sharedDatabase();

beforeEach(async () => await clearFlow(database));

/** A worker comes up with the definition `late`. */
async function publish(policy: Omit<DefinitionPolicy, 'key'>): Promise<void> {
  await publishDefinitions(database.db, [
    defineJob({ key: 'late', ...policy, run: () => null }).info,
  ]);
  await syncLimits(database.db, ['late']);
}

const late = { definitionKey: 'late' };
const look = async (id: string) => await getJob(database.db, 'default', id);
const claimed = async () => (await claimAny(database, await newWorker(database), 10))[0];

describe('the number of attempts', () => {
  it('is that of the definition, shown as soon as it is published', async () => {
    const id = await enqueueOne(database, late);
    expect(await look(id)).toMatchObject({ maxAttempts: 3 });
    await publish({ maxAttempts: 1 });
    expect(await look(id)).toMatchObject({ maxAttempts: 1 });
    expect(await claimed()).toMatchObject({ id, attempts: 1, maxAttempts: 1 });
    // What it began with is what it has.
    await publish({ maxAttempts: 7 });
    expect(await look(id)).toMatchObject({ maxAttempts: 1 });
  });

  it.each([
    ['asked for', { maxAttempts: 5 }, 5],
    ['asked for like the default', { maxAttempts: 3 }, 3],
    ['fixed, since the job was made after all', {}, 1],
  ])('stays what the caller %s', async (_, asked, maxAttempts) => {
    if (!('maxAttempts' in asked)) await publish({ maxAttempts: 1 });
    const fresh = new Enqueuer(database.db, database.waker, systemClock);
    const [answer] = await fresh.start([request({ ...late, ...asked })]);
    await publish({ maxAttempts: 1 });
    expect(await claimed()).toMatchObject({ id: answer?.jobId, maxAttempts });
  });

  it('is that of a definition which is published while the job is being made', async () => {
    // The enqueuer has just read the definitions, and believes for a while what it read.
    const frozen = { ...systemClock, monotonicMs: () => 0 };
    const enqueuer = new Enqueuer(database.db, database.waker, frozen);
    await enqueuer.checkParams([request(late)]);
    await publish({ maxAttempts: 2 });
    const [answer] = await enqueuer.start([request(late)]);
    expect(await claimed()).toMatchObject({ id: answer?.jobId, maxAttempts: 2 });
  });

  it('is that of the definition for a job by SQL, and for one that waits for its time', async () => {
    const [byName] = await database.sql<{ id: string }>(
      `select job_id as id from longshore.enqueue('{"definitionKey": "late"}')`,
    );
    const held = await enqueueOne(database, { ...late, hold: true });
    await publish({ maxAttempts: 4 });
    for (const id of [byName?.id ?? '', held]) {
      expect(await look(id)).toMatchObject({ maxAttempts: 4 });
    }
    expect(await claimed()).toMatchObject({ id: byName?.id, maxAttempts: 4 });
  });

  it('is that of the definition for a dead letter without a worker', async () => {
    const id = await enqueueOne(database, { ...late, policy: { failsUnserved: true } });
    const { db, waker } = database;
    const scope = { afterMs: 0, tenant: null, unpublishedAtOnce: false };
    await failUnserved({ db, waker, jobLog: new JobLog(silentLog) }, 0, scope);
    expect(await look(id)).toMatchObject({ status: 'failed', maxAttempts: 3 });
    await publish({ maxAttempts: 6 });
    await retryJob(db, 'default', id, { mode: 'now', runAt: null, paramsJson: null });
    expect(await claimed()).toMatchObject({ id, maxAttempts: 6 });
  });
});

it('gives the limits of the definition to jobs that were there before', async () => {
  for (const concurrencyKey of ['a', 'a', 'b', 'c']) {
    await enqueueOne(database, { ...late, concurrencyKey });
  }
  await publish({ maxAttempts: 2, concurrencyLimit: 2, concurrencyKeyLimit: 1 });
  // The limitSweeper gives those that stand in line their tokens, or has them wait for one.
  await sweepLimiters(database.db, 0, SWEEP_START, 100);
  const worker = await newWorker(database);
  const jobs = await take(database, worker, 10);
  expect(jobs.map(({ maxAttempts }) => maxAttempts)).toEqual([2, 2]);
  const [keys] = await database.sql<{ different: number }>(
    `select count(distinct j.concurrency_key)::int as different
     from longshore.running r join longshore.job j using (id)`,
  );
  expect(keys).toEqual({ different: 2 });
  expect(await take(database, worker, 10)).toEqual([]);
});

it('runs a job by its definition, whichever came first', async () => {
  const endless = await enqueueOne(database, { definitionKey: 'endless' });
  const throwing = await enqueueOne(database, { definitionKey: 'throwing' });
  const inline = { isolation: 'inline', maxAttempts: 1 } as const;
  const jobs = [
    defineJob({
      key: 'endless',
      ...inline,
      timeoutSeconds: 0.1,
      run: async (_params: unknown, { abortSignal }) =>
        await new Promise((_, reject) => {
          abortSignal.addEventListener('abort', () => reject(new Error('stopped')));
        }),
    }),
    defineJob({
      key: 'throwing',
      ...inline,
      run: () => {
        throw new Error('once is enough');
      },
    }),
  ] as JobDefinition[];
  const { worker, stop } = workerOn(database, { jobs });
  onTestFinished(stop);
  await worker.start();
  await jobEnded(database, endless);
  await jobEnded(database, throwing);
  const ended = { status: 'failed', attempts: 1, maxAttempts: 1 };
  expect(await look(endless)).toMatchObject({ ...ended, error: { code: 'TIMEOUT' } });
  expect(await look(throwing)).toMatchObject({ ...ended, error: { code: 'HANDLER_ERROR' } });
});
