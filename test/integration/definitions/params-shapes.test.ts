import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { plainRequest } from '../../../src/core/job/new-job.ts';
import { SCHEDULE_DEFAULTS } from '../../../src/core/schedule/schedule.ts';
import { refuseMisfit } from '../../../src/enqueue/start-jobs.ts';
import { triggerSchedule } from '../../../src/enqueue/trigger-schedule.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { readEvents } from '../../../src/store/read/read-events.ts';
import { createSchedule } from '../../../src/store/schedules/schedules.ts';
import { runJob } from '../../../src/testing/run-job.ts';
import { loadDeployment } from '../../../src/worker/runner/load-deployment.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { apiOn, remoteWorker } from '../../support/servers/remote.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** Jobs that were queued with an older or a newer shape of params than the code has. */

const database = databasePerTest();

const OLD = { name: 'Ada Lovelace' };
const GREETED = { by: 'new code', text: 'Hello, Lovelace, Ada' };

beforeEach(async () => {
  onTestFinished(await scheduling(database));
});

async function serve(code: 'old' | 'new'): Promise<() => Promise<void>> {
  const { worker, stop } = workerOn(database, { jobs: join(FIXTURES, 'shapes', code) });
  await worker.start();
  expect(worker.report.problems).toEqual([]);
  database.enqueuer.forgetDefinitions();
  let stopping: Promise<void> | undefined;
  const once = async () => await (stopping ??= stop());
  onTestFinished(once);
  return once;
}

const start = async (params: unknown, more: Parameters<typeof enqueueOne>[1] = {}) =>
  await enqueueOne(database, {
    definitionKey: 'greet',
    paramsJson: JSON.stringify(params),
    ...more,
  });

const view = async (jobId: string) => await getJob(database.db, DEFAULT_TENANT, jobId);

const policyOf = async (jobId: string) =>
  await database.sql('select policy from longshore.job where id = $1', [jobId]);

describe('new code', () => {
  it('runs jobs that were queued before it, and jobs of today', async () => {
    const stop = await serve('old');
    await stop();
    const before = await start(OLD);
    expect(await policyOf(before)).toEqual([{ policy: null }]);
    await serve('new');
    expect(await view(before)).toMatchObject({ paramsShape: 1, currentParamsShape: 3 });
    expect(await jobEnded(database, before)).toMatchObject({ result: GREETED, params: OLD });

    const today = await start({ first: 'Ada', last: 'Lovelace', greeting: 'Hi' });
    expect(await policyOf(today)).toEqual([{ policy: { paramsShape: 3 } }]);
    expect(await jobEnded(database, today)).toMatchObject({
      paramsShape: 3,
      result: { text: 'Hi, Lovelace, Ada' },
    });
  });

  it('upgrades from the shape that a caller names, in every kind of runner', async () => {
    await serve('new');
    const second = await start({ first: 'Ada', last: 'Lovelace' }, { paramsShape: 2 });
    expect(await jobEnded(database, second)).toMatchObject({ result: GREETED });
    for (const definitionKey of ['greet.thread', 'greet.inline']) {
      const jobId = await start(OLD, { definitionKey, paramsShape: 1 });
      expect(await jobEnded(database, jobId)).toMatchObject({ result: 'Lovelace' });
    }
  });

  it('gives hooks the current shape', async () => {
    await serve('new');
    const current = { first: 'Ada', last: 'Lovelace', greeting: 'Hello' };
    for (const paramsShape of [1, 2]) {
      const params = paramsShape === 1 ? OLD : { first: 'Ada', last: 'Lovelace' };
      const jobId = await start(params, { definitionKey: 'greet.hooked', paramsShape });
      const told = await until('both hooks have run', async () => {
        const { events } = (await readEvents(database.db, DEFAULT_TENANT, jobId, {
          afterId: null,
          limit: 100,
        })) ?? { events: [] };
        const own = events.filter(({ type }) => type === 'custom');
        return own.length === 2 && own;
      });
      expect(told).toMatchObject([
        { payload: { type: 'started with', payload: current } },
        { payload: { type: 'succeeded with', payload: current } },
      ]);
    }
  });

  it('fails a job for good whose params cannot be upgraded', async () => {
    await serve('new');
    const job = await jobEnded(database, await start({ name: 'Ada' }, { paramsShape: 1 }));
    expect(job).toMatchObject({
      status: 'failed',
      attempts: 1,
      error: {
        code: 'PARAMS_UPGRADE_FAILED',
        message: 'the upgrade of the params from shape 1 to 2 failed: no last name in "Ada"',
        cause: { message: 'no last name in "Ada"' },
      },
    });
    // Corrected by hand, the params still have the shape of the job.
    const paramsJson = JSON.stringify(OLD);
    await refuseMisfit(database.enqueuer, DEFAULT_TENANT, { ...job, paramsJson });
    const again = { mode: 'now', runAt: null, paramsJson } as const;
    await retryJob(database.db, DEFAULT_TENANT, job.jobId, again);
    expect(await jobEnded(database, job.jobId)).toMatchObject({ paramsShape: 1, result: GREETED });
  });

  it('validates params of the current shape only when they arrive', async () => {
    await serve('new');
    await expect(start(OLD)).rejects.toThrow('params/first: is required');
    const jobId = await start({ first: 1, last: 2 }, { paramsShape: 2 });
    expect(await jobEnded(database, jobId)).toMatchObject({ error: { code: 'PAYLOAD_INVALID' } });
  });

  it('serves jobs over HTTP', async () => {
    const server = await apiOn(database);
    const jobs = join(FIXTURES, 'shapes', 'new');
    const { worker, stop } = remoteWorker(server.url, { jobs });
    onTestFinished(async () => {
      await stop();
      await server.close();
    });
    const first = await start(OLD);
    await worker.start();
    expect(await jobEnded(database, first)).toMatchObject({ result: GREETED });
    const second = await start({ first: 'Ada', last: 'Lovelace' }, { paramsShape: 2 });
    expect(await jobEnded(database, second)).toMatchObject({ result: GREETED });
  });
});

describe('a job that is newer than the code', () => {
  it('waits without using an attempt, says why, and runs with newer code', async () => {
    const stop = await serve('old');
    const params = { first: 'Ada', last: 'Lovelace', greeting: 'Hi' };
    const asked = { paramsShape: 3, definitionKey: 'greet', paramsJson: JSON.stringify(params) };
    const jobId = await enqueueOne(database, asked);
    const job = await until('it waits', async () => {
      const found = await view(jobId);
      return found?.status === 'scheduled' && found;
    });
    expect(job).toMatchObject({
      attempts: 0,
      paramsShape: 3,
      currentParamsShape: 1,
      warnings: [
        {
          code: 'PARAMS_NEWER',
          detail:
            'its params have shape 3, and the registered code has shape 1: it waits for a worker with newer code',
        },
      ],
    });
    await stop();
    await serve('new');
    expect(await jobEnded(database, jobId)).toMatchObject({
      attempts: 1,
      warnings: [],
      result: { by: 'new code', text: 'Hi, Lovelace, Ada' },
    });
  });

  it('is accepted with a warning', async () => {
    await publishDefinitions(database.db, [defineJob({ key: 'greet', run: () => 1 }).info]);
    const asked = { ...plainRequest(DEFAULT_TENANT, 'greet', '{}'), paramsShape: 2 };
    expect(await database.enqueuer.warnings([asked, { ...asked, paramsShape: 1 }])).toEqual([
      [
        {
          code: 'PARAMS_NEWER',
          detail:
            'the params have shape 2, and the registered code of "greet" has shape 1: the job waits for a worker with newer code',
        },
      ],
      [],
    ]);
  });
});

describe('deployed code', () => {
  const load = async (paramsShape: number, exported: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-shapes-'));
    onTestFinished(async () => await rm(folder, { recursive: true }));
    const source = pathToFileURL(join(FIXTURES, 'shapes', 'new', 'jobs.ts')).href;
    const code = `export { greet } from '${source}'; export const plain = () => null;`;
    await writeFile(join(folder, 'main.js'), code);
    const entrypoint = `main:${exported}`;
    const definitions = [{ key: 'greet', paramsShape, entrypoint }];
    const manifest = { longshore: 1, runtime: 'node', definitions };
    return await loadDeployment(folder, { number: 7, manifest, provided: {} });
  };

  it('upgrades like the code of a folder', async () => {
    const { definitions, problems } = await load(3, 'greet');
    expect(problems).toEqual([]);
    const [greet] = definitions;
    if (!greet) throw new Error('no definition');
    expect(greet.info).toMatchObject({ version: 7, paramsShape: 3 });
    const run = await runJob(greet, OLD, { paramsShape: 1 });
    expect(run).toMatchObject({ status: 'succeeded', result: GREETED });
  });

  it('must have the shape that its manifest says', async () => {
    const words = (says: number, has: number) =>
      `greet: Error: longshore.json says shape ${says} of the params, and the code upgrades them to ${has}`;
    expect((await load(2, 'greet')).problems).toEqual([expect.stringContaining(words(2, 3))]);
    expect((await load(2, 'plain')).problems).toEqual([expect.stringContaining(words(2, 1))]);
  });
});

describe('a test or a replay', () => {
  it('refuses params that are newer than the code', async () => {
    const old = defineJob({ key: 'old', run: () => 1 });
    await expect(runJob(old, {}, { paramsShape: 2 })).rejects.toThrow(
      'the params have shape 2, and the code of old has shape 1',
    );
  });
});

describe('the shape follows the params', () => {
  it('of a schedule', async () => {
    await serve('new');
    const { db, enqueuer } = database;
    const spec = {
      ...SCHEDULE_DEFAULTS,
      name: null,
      definitionKey: 'greet',
      cron: '0 3 * * *',
      paramsJson: JSON.stringify(OLD),
    };
    const made = { tenant: DEFAULT_TENANT, source: 'api', spec } as const;
    const id = await createSchedule(db, db.ids, made);
    const jobId = (await triggerSchedule(db, enqueuer, DEFAULT_TENANT, id)) ?? '';
    expect(await jobEnded(database, jobId)).toMatchObject({ paramsShape: 1, result: GREETED });
  });

  it.each([1, 2, 3])('of a unique job that is replaced with shape %i', async (paramsShape) => {
    const unique = { key: 'k', while: 'queued', onConflict: 'replace' } as const;
    const asked = { unique, delayMs: 60_000, policy: { timeoutMs: 9 } };
    const jobId = await start(OLD, { ...asked, paramsShape: 2 });
    expect(await start({ other: true }, { ...asked, paramsShape })).toBe(jobId);
    const [row] = await policyOf(jobId);
    expect(row).toEqual({
      policy: {
        timeoutMs: 9,
        unique: { key: 'key:k', while: 'queued' },
        ...(paramsShape > 1 && { paramsShape }),
      },
    });
  });
});
