import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import { sendSignal } from '../../../src/enqueue/send-signal.ts';
import { shardOfJobId } from '../../../src/core/job/job-id.ts';
import { parseSignal } from '../../../src/protocol/signal.ts';
import { saveStep } from '../../../src/store/attempt/steps.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { readEvents } from '../../../src/store/read/read-events.ts';
import { readSteps } from '../../../src/store/read/read-steps.ts';
import { claimAny, enqueueOne, newWorker } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** Jobs that wait for a signal or for a time, with real processes. */

const database = sharedDatabase({ shards: 4 });
const stops: (() => Promise<void>)[] = [];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-waits-'));
  // One slot: a job that waits must not hold it.
  const { worker, stop } = workerOn(database, { jobs: join(FIXTURES, 'jobs'), slots: 1 });
  await worker.start();
  stops.push(stop, await scheduling(database));
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true });
});

const start = async (definitionKey: string, params: unknown) =>
  await enqueueOne(database, { definitionKey, paramsJson: JSON.stringify(params) });

const send = async (jobId: string, name: string, payload: unknown, tenant = DEFAULT_TENANT) =>
  await sendSignal(database.db, tenant, jobId, parseSignal(name, { payload }), null);

const suspended = async (jobId: string) =>
  await until('it is suspended', async () => {
    const job = await getJob(database.db, DEFAULT_TENANT, jobId);
    return job?.status === 'suspended' && job;
  });

const linesOf = (file: string) => readFileSync(file, 'utf8').trim().split('\n');

describe('a job that waits for a signal', () => {
  it('holds no slot, keeps its steps, and goes on with the payload', async () => {
    const file = join(folder, 'held');
    const jobId = await start('approval', { file });
    const job = await suspended(jobId);
    expect(job).toMatchObject({ waitsFor: { signal: 'approved' }, attempts: 0, workerId: null });
    const other = await jobEnded(database, await start('echo', 1));
    expect(other.status).toBe('succeeded');
    expect(await send(jobId, 'approved', { ok: true, by: 'Ann' })).toEqual({
      jobId,
      signal: 'approved',
      status: 'queued',
      duplicate: false,
    });
    expect(await jobEnded(database, jobId)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      result: { ok: true, by: 'Ann' },
      waitsFor: null,
    });
    expect(linesOf(file)).toEqual(['proposed 1', 'decided 1']);
  });

  it('takes a signal that came before it ran', async () => {
    const file = join(folder, 'early');
    const paramsJson = JSON.stringify({ file });
    const jobId = await enqueueOne(database, {
      definitionKey: 'approval',
      paramsJson,
      delayMs: 300,
    });
    expect(await send(jobId, 'approved', { ok: false })).toMatchObject({ status: 'scheduled' });
    expect(await jobEnded(database, jobId)).toMatchObject({
      status: 'succeeded',
      result: { ok: false, by: 'unknown' },
    });
  });

  it('gets a signal once: the same again changes nothing, another payload is refused', async () => {
    const jobId = await start('approval', { file: join(folder, 'once') });
    await suspended(jobId);
    await send(jobId, 'approved', { ok: true, by: 'Ann' });
    expect(await send(jobId, 'approved', { by: 'Ann', ok: true })).toMatchObject({
      duplicate: true,
    });
    await expect(send(jobId, 'approved', { ok: false })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('another payload'),
    });
    await jobEnded(database, jobId);
    expect(await send(jobId, 'approved', { ok: true, by: 'Ann' })).toMatchObject({
      status: 'succeeded',
      duplicate: true,
    });
    await expect(send(jobId, 'other', null)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('refuses a payload that does not fit, and goes on waiting', async () => {
    const jobId = await start('approval', { file: join(folder, 'misfit') });
    await suspended(jobId);
    await expect(send(jobId, 'approved', { ok: 'yes' })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      errors: [{ pointer: '/payload/ok', detail: expect.any(String) }],
    });
    expect(await getJob(database.db, DEFAULT_TENANT, jobId)).toMatchObject({ status: 'suspended' });
    const { steps } = await readSteps(database.db, DEFAULT_TENANT, jobId);
    expect(steps.map(({ name }) => name)).toEqual(['propose', 'wait:approved']);
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
  });

  it('discards an early payload that does not fit, and goes on waiting', async () => {
    const file = join(folder, 'early-misfit');
    const paramsJson = JSON.stringify({ file });
    const jobId = await enqueueOne(database, {
      definitionKey: 'approval',
      paramsJson,
      delayMs: 200,
    });
    await send(jobId, 'approved', 'yes');
    await suspended(jobId);
    const { steps } = await readSteps(database.db, DEFAULT_TENANT, jobId);
    expect(steps.map(({ name }) => name)).toEqual([
      'propose',
      'wait:approved',
      'reject:approved:2',
    ]);
    const by = { name: 'key:1f0c', address: null };
    const signal = parseSignal('approved', { payload: { ok: true } });
    await sendSignal(database.db, DEFAULT_TENANT, jobId, signal, by);
    expect(await jobEnded(database, jobId)).toMatchObject({ status: 'succeeded', attempts: 1 });
    const page = await readEvents(database.db, DEFAULT_TENANT, jobId, { afterId: null, limit: 50 });
    const told = (page?.events ?? []).filter(({ type }) => type.startsWith('signal'));
    expect(told.map(({ type, payload }) => [type, payload])).toEqual([
      ['signal_rejected', { signal: 'approved', message: expect.stringContaining('object') }],
      ['signal', { signal: 'approved', by: 'key:1f0c' }],
    ]);
    const all = (page?.events ?? []).map(({ id }) => id);
    for (const [index, afterId] of all.entries()) {
      const rest = await readEvents(database.db, DEFAULT_TENANT, jobId, { afterId, limit: 50 });
      expect(rest?.events.map(({ id }) => id)).toEqual(all.slice(index + 1));
    }
  });

  it('discards nothing twice: a later signal stays when the worker repeats itself', async () => {
    const jobId = await enqueueOne(database, { definitionKey: 'elsewhere' });
    await send(jobId, 'go', 'bad');
    const [job] = await claimAny(database, await newWorker(database), 1);
    const step = { id: jobId, claim: job?.claim ?? 0, name: 'reject:go', valueJson: '"unfit"' };
    const shard = shardOfJobId(jobId);
    expect(await saveStep(database.db, shard, step)).toBe(true);
    expect(await send(jobId, 'go', 'good')).toMatchObject({ duplicate: false });
    expect(await saveStep(database.db, shard, step)).toBe(true);
    expect(await send(jobId, 'go', 'good')).toMatchObject({ duplicate: true });
    expect(await saveStep(database.db, shard, { ...step, claim: step.claim + 1 })).toBe(false);
  });

  it('warns of a name that a suspended job does not wait for', async () => {
    const jobId = await start('approval', { file: join(folder, 'misspelt') });
    await suspended(jobId);
    expect(await send(jobId, 'aproved', { ok: true })).toMatchObject({
      status: 'suspended',
      warnings: [{ code: 'NOT_AWAITED', detail: expect.stringContaining('mean "approved"?') }],
    });
    expect(await send(jobId, 'approved', { ok: true })).not.toHaveProperty('warnings');
    await jobEnded(database, jobId);
  });

  it('fails without a retry after the timeout, or goes on if it catches that', async () => {
    const file = join(folder, 'timeout');
    const failed = await jobEnded(database, await start('approval', { file, timeoutMs: 200 }));
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'SIGNAL_TIMEOUT' } });
    expect(linesOf(file)).toEqual(['proposed 1']);
    const caught = await jobEnded(database, await start('late-approval', null));
    expect(caught).toMatchObject({ status: 'succeeded', result: 'no answer' });
  });

  it('is refused a signal after its timeout, and waits anew when it is retried', async () => {
    const file = join(folder, 'late');
    const jobId = await start('approval', { file, timeoutMs: 100 });
    await jobEnded(database, jobId);
    await expect(send(jobId, 'approved', { ok: true })).rejects.toMatchObject({ code: 'CONFLICT' });
    const again = { mode: 'now', runAt: null, paramsJson: null } as const;
    await retryJob(database.db, DEFAULT_TENANT, jobId, again);
    await suspended(jobId);
    await send(jobId, 'approved', { ok: true });
    expect(await jobEnded(database, jobId)).toMatchObject({ status: 'succeeded' });
    expect(linesOf(file)).toEqual(['proposed 1', 'decided 2']);
  });

  it('waits also if its code swallows what ends the attempt', async () => {
    const jobId = await start('stubborn-approval', null);
    await suspended(jobId);
    await send(jobId, 'go', 'yes');
    expect(await jobEnded(database, jobId)).toMatchObject({ status: 'succeeded', result: 'yes' });
  });

  it('can be cancelled', async () => {
    const jobId = await start('approval', { file: join(folder, 'cancelled') });
    await suspended(jobId);
    expect(await cancelJob(database.db, DEFAULT_TENANT, jobId)).toMatchObject({
      status: 'cancelled',
    });
    await expect(send(jobId, 'approved', { ok: true })).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is unknown to other tenants', async () => {
    const jobId = await start('approval', { file: join(folder, 'tenant') });
    await suspended(jobId);
    expect(await send(jobId, 'approved', { ok: true }, 'other')).toBeNull();
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
  });
});

describe('a job that sleeps', () => {
  it('ends its attempt, and each sleep ends once', async () => {
    const file = join(folder, 'asleep');
    const jobId = await start('sleeper', { file });
    const sleeping = await until('it sleeps', async () => {
      const job = await getJob(database.db, DEFAULT_TENANT, jobId);
      return job?.status === 'scheduled' && job;
    });
    expect(sleeping.waitsFor).toEqual({ sleep: true });
    expect(existsSync(file)).toBe(false);
    const ended = { status: 'succeeded', result: 1, waitsFor: null };
    expect(await jobEnded(database, jobId)).toMatchObject(ended);
    expect(linesOf(file)).toEqual(['between']);
    const page = await readEvents(database.db, DEFAULT_TENANT, jobId, { afterId: null, limit: 50 });
    const slept = page?.events.filter(({ type }) => type === 'snoozed') ?? [];
    expect(slept.length).toBeGreaterThan(0);
    expect(slept.every(({ payload }) => (payload as { sleep?: true }).sleep)).toBe(true);
  });
});
