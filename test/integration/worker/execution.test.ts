import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventView, LogView } from '../../../src/core/views/history.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { listJobs } from '../../../src/store/read/list-jobs.ts';
import { readAttempts } from '../../../src/store/read/read-attempts.ts';
import { readEvents } from '../../../src/store/read/read-events.ts';
import { readLogs } from '../../../src/store/read/read-logs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { until } from '../../support/until.ts';
import { jobBegun, jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

/** What a job says and keeps while it runs, from its own process to the database and back. */

const database = sharedDatabase();
let folder: string;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-execution-'));
  const { worker, stop } = workerOn(database, { jobs: join(FIXTURES, 'execution') });
  await worker.start();
  stops.push(stop, await scheduling(database));
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true });
});

const begin = async (definitionKey: string, params: object = {}) =>
  await enqueueOne(database, { definitionKey, paramsJson: JSON.stringify(params) });

const run = async (definitionKey: string, params: object = {}) =>
  await jobEnded(database, await begin(definitionKey, params));

async function logsOf(jobId: string): Promise<LogView[]> {
  const page = { afterId: null, attempt: null, limit: 1_000 };
  return (await readLogs(database.db, 'default', jobId, page))?.logs ?? [];
}

/** The whole history, once its hooks are over as well. */
async function historyOf(jobId: string): Promise<EventView[]> {
  return await until(`the history of ${jobId} is over`, async () => {
    const page = await readEvents(database.db, 'default', jobId, { afterId: null, limit: 1_000 });
    return page?.ended ? page.events : null;
  });
}

const linesOf = (file: string) => readFileSync(file, 'utf8').trim().split('\n');

interface HookCall {
  hook: string;
  status: string;
}
const callsIn = (file: string) => linesOf(file).map((line) => JSON.parse(line) as HookCall);

describe('the step that an attempt failed in', () => {
  const errorOf = async (params: object) => (await run('stumbling', params)).error;
  const render = {
    name: 'render',
    durationMs: expect.any(Number) as number,
    untilEndMs: expect.any(Number) as number,
  };

  it('is named by the error that it threw, also as a cause', async () => {
    const error = await errorOf({ how: 'throws' });
    expect(error).toMatchObject({ message: 'the report failed', step: render });
    expect(error?.cause).not.toHaveProperty('step');
  });

  it('is not named when the code caught its error and failed elsewhere', async () => {
    expect(await errorOf({ how: 'outside' })).not.toHaveProperty('step');
  });

  it('is named when the process crashed in it', async () => {
    expect(await errorOf({ how: 'crashes' })).toMatchObject({ code: 'CRASHED', step: render });
  });

  it('is named by a timeout', async () => {
    const paramsJson = JSON.stringify({ how: 'hangs', file: join(folder, 'never') });
    const request = { definitionKey: 'stumbling', paramsJson, policy: { timeoutMs: 500 } };
    const { error } = await jobEnded(database, await enqueueOne(database, request));
    expect(error).toMatchObject({ code: 'TIMEOUT', step: render });
  });

  it('is an event while it runs', async () => {
    const file = join(folder, 'rendered');
    const jobId = await begin('stumbling', { how: 'waits', file });
    const { payload, attempt } = await until(`the step of ${jobId} runs`, async () => {
      const page = { afterId: null, limit: 1_000 };
      const found = await readEvents(database.db, 'default', jobId, page);
      return found?.events.find(({ type }) => type === 'step');
    });
    expect({ payload, attempt }).toEqual({
      payload: { step: 'render', state: 'started' },
      attempt: 1,
    });
    writeFileSync(file, '');
    expect(await jobEnded(database, jobId)).toMatchObject({ status: 'succeeded', error: null });
  });
});

describe('the output of a job', () => {
  it('is kept, whichever way it said it, before its outcome is', async () => {
    const { jobId } = await run('talkative');
    const logs = await logsOf(jobId);
    expect(
      logs.map(({ level, stream, message }) => `${level} ${stream} ${message}`).toSorted(),
    ).toEqual([
      'error stderr to stderr',
      'info logger resized cat.png {"width":3}',
      'info stdout to stdout',
      'warn logger careful',
    ]);
    expect(logs.every(({ attempt }) => attempt === 1)).toBe(true);
    const history = await historyOf(jobId);
    expect(history.map(({ type }) => type)).toEqual([
      'created',
      'queued',
      'started',
      'custom',
      'progress',
      'succeeded',
    ]);
    expect(history.find(({ type }) => type === 'custom')?.payload).toEqual({
      type: 'thumbnail.made',
      payload: { width: 3 },
    });
    expect(history.find(({ type }) => type === 'progress')?.payload).toEqual({
      fraction: 0.4,
      message: 'resizing',
    });
  });

  it('can be read while it runs', async () => {
    const jobId = await begin('patient');
    const [line] = await until('its line is there', async () => {
      const logs = await logsOf(jobId);
      return logs.length > 0 ? logs : null;
    });
    expect(line?.message).toBe('waiting');
    await cancelJob(database.db, 'default', jobId);
    expect((await jobEnded(database, jobId)).status).toBe('cancelled');
    const history = await historyOf(jobId);
    expect(history.map(({ type }) => type).slice(-2)).toEqual(['cancel_requested', 'cancelled']);
  });
});

describe('steps and checkpoints', () => {
  it('are not done twice, however often the process dies', async () => {
    const file = join(folder, 'steps');
    const job = await run('stepwise', { file, crashes: 2 });
    expect(job).toMatchObject({
      status: 'succeeded',
      result: { second: ['first', 'second'], attempt: 3 },
    });
    expect(linesOf(file)).toEqual(['first', 'second']);
    const attempts = await readAttempts(database.db, 'default', job.jobId);
    expect(attempts?.map(({ number, error }) => [number, error?.code])).toEqual([
      [1, 'CRASHED'],
      [2, 'CRASHED'],
      [3, undefined],
    ]);
  });

  it('let the next attempt go on where the last one was', async () => {
    const job = await run('counting', { upTo: 5 });
    expect(job).toMatchObject({ status: 'succeeded', result: { start: 5, attempt: 3 } });
    const history = (await historyOf(job.jobId)).map(({ type }) => type);
    expect(history.filter((type) => type === 'retry_scheduled')).toHaveLength(2);
  });
});

describe('hooks', () => {
  it('run after a success, and know the result', async () => {
    const file = join(folder, 'success');
    const { jobId } = await run('hooked', { file });
    const history = await historyOf(jobId);
    const calls = callsIn(file);
    expect(calls.map(({ hook }) => hook).toSorted()).toEqual(['onEnd', 'onStart', 'onSuccess']);
    expect(calls.find(({ hook }) => hook === 'onSuccess')).toMatchObject({
      status: 'succeeded',
      result: 42,
      error: null,
    });
    const events = history.filter(({ type }) => type === 'hook').map(({ payload }) => payload);
    expect(events).toHaveLength(2);
    expect(events).toContainEqual(
      expect.objectContaining({ hook: 'onSuccess', status: 'succeeded' }),
    );
  });

  it('run once after the last failure, and know the error', async () => {
    const file = join(folder, 'failure');
    const { jobId } = await run('hooked', { file, fail: true });
    await historyOf(jobId);
    const calls = callsIn(file);
    expect(calls.map(({ hook }) => hook).toSorted()).toEqual([
      'onEnd',
      'onFail',
      'onStart',
      'onStart',
    ]);
    expect(calls.find(({ hook }) => hook === 'onFail')).toMatchObject({
      status: 'failed',
      error: { code: 'HANDLER_ERROR', message: 'on purpose' },
    });
  });

  it('that fail are reported, retried twice, and change nothing', async () => {
    const job = await run('bad-hooks');
    expect(job).toMatchObject({ status: 'succeeded', result: 'fine' });
    const hooks = (await historyOf(job.jobId)).filter(({ type }) => type === 'hook');
    expect(hooks.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({
        hook: 'onStart',
        status: 'failed',
        error: expect.objectContaining({ message: 'bad start' }),
      }),
      expect.objectContaining({
        hook: 'onSuccess',
        status: 'failed',
        error: expect.objectContaining({ message: 'bad success' }),
      }),
    ]);
  });

  it('do not show among the jobs', async () => {
    const { jobs } = await listJobs(database.db, {
      tenant: 'default',
      statuses: [],
      definitionKey: null,
      tag: null,
      createdAfter: null,
      createdBefore: null,
      newestFirst: true,
      afterId: null,
      limit: 200,
    });
    expect(jobs.length).toBeGreaterThan(3);
    expect(jobs.filter(({ definitionKey }) => definitionKey.startsWith('$'))).toEqual([]);
  });
});

describe('a cancel', () => {
  it('reaches a running job by the heartbeat alone', async () => {
    const jobId = await begin('patient');
    await jobBegun(database, jobId);
    // As the API writes it, but no notification is sent.
    await database.sql(
      `update longshore.running set state = 'cancelling', cancel_requested_at = clock_timestamp()
       where id = $1`,
      [jobId],
    );
    expect((await jobEnded(database, jobId)).status).toBe('cancelled');
  });
});
