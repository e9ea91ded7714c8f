import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configOf } from '../../../src/config/options.ts';
import { defineJob, type JobDefinition } from '../../../src/core/definition/define.ts';
import type { RunDueSummary } from '../../../src/core/queue/run-due.ts';
import { type HttpDeps, HttpServer } from '../../../src/http/server.ts';
import type { Problem } from '../../../src/protocol/problem.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { runDue } from '../../../src/app/run-due/run-due.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { post } from '../../support/api.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne, request } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';

const database = sharedDatabase();
let server: HttpServer;
const ran: unknown[] = [];
/** Ends what runs endlessly, one for each. */
const letGo: (() => void)[] = [];

const inline = { isolation: 'inline' } as const;
const JOBS: JobDefinition[] = [
  defineJob({ key: 'note', ...inline, run: (params: unknown) => void ran.push(params) }),
  defineJob({
    key: 'endless',
    ...inline,
    run: async (_params: unknown, { abortSignal }) =>
      await new Promise<void>((resolve, reject) => {
        letGo.push(resolve);
        abortSignal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  }),
] as JobDefinition[];

async function serve(injected: Pick<HttpDeps, 'runDue'>): Promise<string> {
  const { db, enqueuer } = database;
  const at = { host: '127.0.0.1', port: 0, version: '0' };
  server = new HttpServer({ db, enqueuer, log: silentLog, ...at, ...injected });
  await server.start();
  return `${server.address}/api/jobs/run`;
}

/** As `start` does it. */
async function serveRunning(): Promise<string> {
  const { db, waker, url: databaseUrl } = database;
  const config = configOf({ databaseUrl, concurrency: 4, leaseMs: 10_000 }, []);
  const settings = { ...config, databaseUrl, jobs: JOBS };
  return await serve({
    runDue: async (budget, caller) => runDue(db, waker, settings, silentLog, budget, caller),
  });
}

async function run(url: string, body: unknown = {}): Promise<RunDueSummary> {
  const answer = await post(url, body);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return answer.body;
}

async function refusal(url: string, body: unknown = {}): Promise<Problem & { status: number }> {
  const answer = await post(url, body);
  expect((answer.body as Problem).status).toBe(answer.status);
  return answer.body;
}

const many = async (count: number) =>
  await database.enqueuer.start(
    Array.from({ length: count }, (_, n) => request({ definitionKey: 'note', paramsJson: `${n}` })),
  );

const statusOf = async (id: string) => {
  const job = await getJob(database.db, 'default', id);
  return [job?.status, job?.attempts];
};

/** A run that is under way with a job that does not end by itself. */
async function endless(url: string) {
  const id = await enqueueOne(database, { definitionKey: 'endless' });
  const answer = post(url, { max: 1, seconds: 240 });
  await until('it runs', async () => (await statusOf(id))[0] === 'running');
  return { id, answer };
}

beforeEach(async () => {
  ran.length = 0;
  letGo.length = 0;
  await database.sql(`truncate longshore.job, longshore.waiting, longshore.running, longshore.done,
    longshore.attempt, longshore.worker, longshore.definition`);
});
afterEach(async () => await server.stop());

describe('POST /api/jobs/run', () => {
  it('runs what is due and returns a summary, with a body and without', async () => {
    const url = await serveRunning();
    await many(5);
    expect(await run(url, { max: 3, seconds: 60 })).toEqual({
      claimed: 3,
      succeeded: 3,
      retried: 0,
      deadLettered: 0,
      remaining: 2,
    });
    const bare = await fetch(url, { method: 'POST' });
    expect([bare.status, await bare.json()]).toMatchObject([200, { claimed: 2, remaining: 0 }]);
    expect(ran).toHaveLength(5);
  });

  it('fails jobs without a worker only if they asked for it and are of its tenant', async () => {
    const url = await serveRunning();
    await database.sql(
      `insert into longshore.tenant (name) values ('acme') on conflict do nothing`,
    );
    const unknown = { definitionKey: 'nowhere' };
    const asks = { ...unknown, policy: { failsUnserved: true } } as const;
    const ended = await enqueueOne(database, asks);
    const waits = await enqueueOne(database, unknown);
    const theirs = await enqueueOne(database, { ...asks, tenant: 'acme' });
    expect(await run(url)).toMatchObject({ claimed: 0, deadLettered: 1 });
    expect([await statusOf(ended), await statusOf(waits)]).toEqual([
      ['failed', 0],
      ['queued', 0],
    ]);
    expect(await getJob(database.db, 'acme', theirs)).toMatchObject({ status: 'queued' });
  });

  it('runs each job once when called twice at once', async () => {
    const url = await serveRunning();
    await many(200);
    const budget = { max: 1_000, seconds: 60 };
    const summaries = await Promise.all([run(url, budget), run(url, budget)]);
    expect(summaries.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(200);
    expect(ran.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 200 }, (_, n) => n),
    );
  });

  it('refuses a third call at once, and takes it when one has ended', async () => {
    const url = await serveRunning();
    const answers = [(await endless(url)).answer, (await endless(url)).answer];
    expect(await refusal(url)).toMatchObject({
      status: 503,
      code: 'UNAVAILABLE',
      detail: expect.stringContaining('2 runs are in progress') as string,
    });
    letGo[0]?.();
    expect(await Promise.race(answers)).toMatchObject({ status: 200, body: { succeeded: 1 } });
    expect(await run(url)).toMatchObject({ claimed: 0, remaining: 0 });
    letGo[1]?.();
    await Promise.all(answers);
  });

  it('refuses unknown fields, and names the limit', async () => {
    const url = await serveRunning();
    expect(await refusal(url, { max: 0, seconds: 600, second: 1 })).toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
      errors: [
        { pointer: '/max', detail: 'must be a whole number from 1 to 1000000' },
        { pointer: '/seconds', detail: 'must be a number from 0 to 240' },
        { pointer: '/second', detail: 'unknown field "second": did you mean "seconds"?' },
      ],
    });
    expect(await refusal(url, [])).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  });

  it('explains what to do where no job can run', async () => {
    expect(await refusal(await serve({}))).toMatchObject({
      status: 503,
      code: 'NO_LOCAL_WORKER',
      detail: expect.stringMatching(/`npx longshore start`.*`npx longshore run-due`/) as string,
    });
  });
});

describe('a server that leaves', () => {
  it('takes no call any more, ends the run, gives its jobs back and answers', async () => {
    const url = await serveRunning();
    const { id, answer } = await endless(url);
    server.beginDrain();
    expect(await refusal(url)).toMatchObject({ status: 503, code: 'UNAVAILABLE' });
    expect(await answer).toMatchObject({ status: 200, body: { claimed: 1, remaining: 1 } });
    expect(await statusOf(id)).toEqual(['queued', 0]);
  });

  it('does not stop before the run of a disconnected caller has ended', async () => {
    const url = await serveRunning();
    const id = await enqueueOne(database, { definitionKey: 'endless' });
    const caller = new AbortController();
    const gone = fetch(url, { method: 'POST', signal: caller.signal });
    await until('it runs', async () => (await statusOf(id))[0] === 'running');
    caller.abort();
    await expect(gone).rejects.toThrow();
    await server.stop();
    expect(await statusOf(id)).toEqual(['queued', 0]);
  });
});
