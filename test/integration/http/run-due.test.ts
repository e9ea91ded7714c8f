import { beforeEach, describe, expect, it } from 'vitest';
import { configOf } from '../../../src/config/options.ts';
import { defineJob, NonRetryable } from '../../../src/core/definition/define.ts';
import type { JobDefinition } from '../../../src/core/definition/define.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { runDueJobs } from '../../../src/index.ts';
import { runDue } from '../../../src/app/run-due/run-due.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { reachState } from '../../support/checks/reach-state.ts';
import { enqueueOne, newWorker, request, settleAs, SUCCESS } from '../../support/jobs.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { fallBehind, HOURLY, newSchedule, slotsOf } from '../../support/schedules.ts';
import { until } from '../../support/until.ts';
import { newWebhook } from '../../support/webhooks.ts';
import { workerOn } from '../../support/servers/worker.ts';

const database = sharedDatabase();
const ran: unknown[] = [];

beforeEach(async () => {
  ran.length = 0;
  await database.sql(`truncate longshore.job, longshore.waiting, longshore.running, longshore.done,
    longshore.attempt, longshore.worker, longshore.schedule, longshore.slot, longshore.definition`);
});

const inline = { isolation: 'inline' } as const;
const JOBS: JobDefinition[] = [
  defineJob({ key: 'note', ...inline, run: (params: unknown) => void ran.push(params) }),
  defineJob({
    key: 'flaky',
    ...inline,
    run: () => {
      throw new Error('not today');
    },
  }),
  defineJob({
    key: 'hopeless',
    ...inline,
    run: () => {
      throw new NonRetryable('never');
    },
  }),
  defineJob({
    key: 'endless',
    ...inline,
    run: async (_params: unknown, { abortSignal }) =>
      await new Promise((_, reject) => {
        abortSignal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  }),
] as JobDefinition[];

async function due(
  budget: { max?: number; seconds?: number } = {},
  jobs = JOBS,
  tenant: string | null = null,
  signal?: AbortSignal,
) {
  const databaseUrl = database.url;
  const webhookAllow = '127.0.0.0/8';
  const config = configOf({ databaseUrl, concurrency: 4, leaseMs: 10_000, webhookAllow }, []);
  const settings = { ...config, databaseUrl, jobs };
  const { db, waker } = database;
  const all = { max: 1_000, seconds: 60, ...budget };
  return await runDue(db, waker, settings, silentLog, all, { tenant, ...(signal && { signal }) });
}

const many = async (count: number, definitionKey = 'note') =>
  await database.enqueuer.start(
    Array.from({ length: count }, (_, n) => request({ definitionKey, paramsJson: `${n}` })),
  );

const NOTHING = { claimed: 0, succeeded: 0, retried: 0, deadLettered: 0, remaining: 0 };

describe('run-due', () => {
  it('does nothing when nothing is due, and ends', async () => {
    await enqueueOne(database, { definitionKey: 'note', delayMs: 3_600_000 });
    expect(await due()).toEqual(NOTHING);
  });

  it('runs what waited for a job that expires meanwhile', async () => {
    const expiresAt = new Date(Date.now() + 100);
    const first = await enqueueOne(database, { definitionKey: 'unknown', expiresAt });
    const after = { jobs: [first], onFailure: 'run' as const };
    const second = await enqueueOne(database, { definitionKey: 'note', after });
    await until('the first has expired', () => Date.now() > expiresAt.getTime());
    expect(await due()).toMatchObject({ claimed: 1, succeeded: 1 });
    expect(await getJob(database.db, 'default', second)).toMatchObject({ status: 'succeeded' });
  });

  it('sends webhook deliveries, and counts them like hooks', async () => {
    const receiver = await startReceiver();
    await newWebhook(database, { url: receiver.url });
    await many(2);
    expect(await due()).toMatchObject({ claimed: 4, succeeded: 4, remaining: 0 });
    expect(receiver.received).toHaveLength(2);
    await database.sql('delete from longshore.webhook');
    await receiver.close();
  });

  it('runs all that is due and returns a summary', async () => {
    await many(25);
    await enqueueOne(database, { definitionKey: 'flaky' });
    await enqueueOne(database, { definitionKey: 'hopeless' });
    const summary = { claimed: 27, succeeded: 25, retried: 1, deadLettered: 1, remaining: 0 };
    expect(await due()).toEqual(summary);
    expect(ran).toHaveLength(25);
    // It is a scheduler as well, so that what has moved is counted where no other one runs.
    expect(await database.sql('select from longshore.counter_delta')).toEqual([]);
  });

  it('is a function of the package', async () => {
    await many(3);
    const options = { databaseUrl: database.url, jobs: JOBS };
    expect(await runDueJobs({ ...options, max: 2 })).toEqual({
      ...NOTHING,
      claimed: 2,
      succeeded: 2,
      remaining: 1,
    });
    await expect(runDueJobs({ ...options, max: 0 })).rejects.toThrow(/max must be/);
    await expect(runDueJobs({ ...options, seconds: -1 })).rejects.toThrow(/seconds must be/);
    const wrong = { ...options, secnds: 1 };
    await expect(runDueJobs(wrong)).rejects.toThrow(/did you mean "seconds"/);
    const separate = [defineJob({ key: 'separate', run: () => null })] as JobDefinition[];
    await expect(runDueJobs({ ...options, jobs: separate })).rejects.toThrow(/process of its own/);
    expect(await runDueJobs(options)).toMatchObject({ claimed: 1, remaining: 0 });
  });

  it('stops at its number of jobs', async () => {
    await many(30);
    expect(await due({ max: 10 })).toEqual({
      ...NOTHING,
      claimed: 10,
      succeeded: 10,
      remaining: 20,
    });
    expect(await due({ max: 10 })).toMatchObject({ claimed: 10, remaining: 10 });
    expect(await due()).toMatchObject({ claimed: 10, remaining: 0 });
    expect(ran.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 30 }, (_, n) => n),
    );
  });

  it('gives back what still runs when the time is over, and costs it no attempt', async () => {
    const id = await enqueueOne(database, { definitionKey: 'endless' });
    const summary = await due({ seconds: 0.5 });
    expect(summary).toEqual({ ...NOTHING, claimed: 1, remaining: 1 });
    expect(await getJob(database.db, 'default', id)).toMatchObject({
      status: 'queued',
      attempts: 0,
    });
  });

  it('moves nothing on when its time is over', async () => {
    const first = await reachState(database, 'running');
    const after = { jobs: [first.id], onFailure: 'run' as const };
    const second = await enqueueOne(database, { definitionKey: 'note', after });
    if (first.job) await settleAs(database, first.job, SUCCESS);
    await due({}, JOBS, null, AbortSignal.abort());
    expect(await getJob(database.db, 'default', second)).toMatchObject({ status: 'suspended' });
    expect(await due()).toMatchObject({ succeeded: 1 });
  });

  it('takes the place of a scheduler: slots, delays, and jobs of lost workers', async () => {
    const schedule = await newSchedule(database, { definitionKey: 'note', cron: HOURLY });
    await fallBehind(database, schedule, 3_600_000, 3_600_000);
    const delayed = await enqueueOne(database, { definitionKey: 'note', delayMs: 3_600_000 });
    await database.sql('update longshore.waiting set run_at = now() where id = $1', [delayed]);
    const lost = await enqueueOne(database, { definitionKey: 'note' });
    const worker = await newWorker(database, -1);
    await database.sql(
      `with w as (delete from longshore.waiting where id = $1 returning *)
       insert into longshore.running (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
         interruptions, queued_at, worker, started_at)
       select shard, id, queue, 'running', rank, 1, 3, 1, 0, queued_at, $2, now() from w`,
      [lost, worker],
    );
    expect(await due()).toMatchObject({ claimed: 3, succeeded: 3, remaining: 0 });
    expect(await slotsOf(database, schedule)).toMatchObject([{ jobStatus: 'succeeded' }]);
    for (const id of [delayed, lost]) {
      expect((await getJob(database.db, 'default', id))?.status).toBe('succeeded');
    }
  });

  it('runs each job once when called twice at once, and beside a worker', async () => {
    await many(300);
    const { worker, stop } = workerOn(database, { jobs: JOBS });
    await worker.start();
    const summaries = await Promise.all([due(), due()]);
    // What the worker had claimed and not begun, its stop would give back.
    await until('all have run', () => ran.length >= 300);
    await stop();
    expect(summaries.every(({ remaining }) => remaining === 0)).toBe(true);
    expect(ran.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 300 }, (_, n) => n),
    );
  });
});

describe('a job without a worker for its definition', () => {
  const asks = { policy: { failsUnserved: true } } as const;
  const unknown = { definitionKey: 'note', definitionVersion: 9 };
  const statusOf = async (id: string, tenant = 'default') =>
    (await getJob(database.db, tenant, id))?.status;

  it('is a dead letter at once, if it asked for that and its definition was never published', async () => {
    const id = await enqueueOne(database, { ...unknown, ...asks });
    const waits = await enqueueOne(database, unknown);
    expect(await due()).toEqual({ ...NOTHING, deadLettered: 1 });
    expect(await getJob(database.db, 'default', id)).toMatchObject({
      status: 'failed',
      attempts: 0,
      error: { code: 'NO_HANDLER', message: expect.stringContaining('note, version 9') },
    });
    expect(await statusOf(waits)).toBe('queued');
  });

  it('is left alone in other tenants, if a tenant calls; the command is of all of them', async () => {
    const ids = new Map<string, string>();
    for (const tenant of ['default', 'other']) {
      ids.set(tenant, await enqueueOne(database, { ...unknown, ...asks, tenant }));
    }
    expect(await due({}, JOBS, 'default')).toEqual({ ...NOTHING, deadLettered: 1 });
    expect(await statusOf(ids.get('default') ?? '')).toBe('failed');
    expect(await statusOf(ids.get('other') ?? '', 'other')).toBe('queued');
    expect(await due()).toEqual({ ...NOTHING, deadLettered: 1 });
    expect(await statusOf(ids.get('other') ?? '', 'other')).toBe('failed');
  });

  it('ends after a while, if it asked for that and its definition has no worker now', async () => {
    await due({}, JOBS);
    const id = await enqueueOne(database, { definitionKey: 'note', ...asks });
    expect(await due({}, JOBS.slice(1))).toEqual(NOTHING);
    await database.sql(`update longshore.waiting set queued_at = now() - interval '1 day'`);
    expect(await due({}, JOBS.slice(1))).toEqual({ ...NOTHING, deadLettered: 1 });
    expect(await statusOf(id)).toBe('failed');
  });

  it('waits, if it was published: its worker may start', async () => {
    const id = await enqueueOne(database, { definitionKey: 'note' });
    // It is published by this call and not loaded by the next.
    await due({ max: 1 });
    const later = await enqueueOne(database, { definitionKey: 'note' });
    expect(await due({}, JOBS.slice(1))).toEqual(NOTHING);
    expect((await getJob(database.db, 'default', id))?.status).toBe('succeeded');
    expect((await getJob(database.db, 'default', later))?.status).toBe('queued');
  });

  it('is shown with a warning while no live worker has it', async () => {
    const { db } = database;
    const id = await enqueueOne(database, { definitionKey: 'note' });
    const warnings = async (afterMs?: number) =>
      (await getJob(db, 'default', id, afterMs))?.warnings;
    expect(await warnings()).toEqual([]);
    const queuedAt = (await getJob(db, 'default', id))?.queuedAt;
    expect(await warnings(0)).toEqual([{ code: 'UNSERVED', since: queuedAt }]);
    const instance = await newWorker(database);
    expect(await warnings(0)).toHaveLength(1);
    await database.sql(
      `update longshore.worker set definitions = array['note@1'] where instance = $1`,
      [instance],
    );
    expect(await warnings(0)).toEqual([]);
    await database.sql(`update longshore.worker set lease_until = now() - interval '1 s'`);
    expect(await warnings(0)).toHaveLength(1);
  });
});
