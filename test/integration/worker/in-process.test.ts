import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  Conflict,
  createLongshore,
  defineJob,
  IdempotencyConflict,
  type InProcess,
  type InProcessOptions,
  InvalidRequest,
  JobFailed,
  NonRetryable,
  NotFound,
  Unavailable,
  WaitTimeout,
} from '../../../src/index.ts';
import { LocalJobs } from '../../../src/app/local-jobs.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { Waker } from '../../../src/store/connection/wake.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { descendants, FIXTURES } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

const database = sharedDatabase();
let folder: string;
const open: InProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-in-process-'));
});
afterEach(async () => {
  for (const longshore of open.splice(0)) await longshore.stop();
});
afterAll(async () => await rm(folder, { recursive: true }));

const create = async (options: Omit<InProcessOptions, 'databaseUrl'>) => {
  const longshore = await createLongshore({ databaseUrl: database.url, pollMs: 200, ...options });
  open.push(longshore);
  return longshore;
};

const ended = async (jobId: string) =>
  await until(`job ${jobId} has ended`, async () => {
    const job = await getJob(database.db, 'default', jobId);
    return job?.finishedAt ? job : null;
  });

describe('inline jobs', () => {
  it('run in the process of the worker', async () => {
    const pid = defineJob({ key: 'inline-pid', isolation: 'inline', run: () => process.pid });
    const longshore = await create({ jobs: [pid] });
    const { id: jobId } = await longshore.enqueue(pid, {});
    expect(await ended(jobId)).toMatchObject({ status: 'succeeded', result: process.pid });
  });

  it('fail, are retried and time out like any other', async () => {
    let runs = 0;
    const flaky = defineJob({
      key: 'inline-flaky',
      isolation: 'inline',
      retry: { baseMs: 10 },
      run: () => {
        runs += 1;
        if (runs === 1) throw new Error('once');
        return runs;
      },
    });
    const stuck = defineJob({
      key: 'inline-stuck',
      isolation: 'inline',
      timeoutSeconds: 0.05,
      cancelGraceMs: 10,
      maxAttempts: 1,
      run: async () => await new Promise(() => undefined),
    });
    const longshore = await create({ jobs: [flaky, stuck] });
    const first = await longshore.enqueue(flaky, {});
    const second = await longshore.enqueue(stuck, {});
    expect(await ended(first.id)).toMatchObject({ status: 'succeeded', attempts: 2, result: 2 });
    expect(await ended(second.id)).toMatchObject({
      status: 'failed',
      error: { code: 'TIMEOUT' },
    });
  });

  it('drain in many turns without losing or doubling any', async () => {
    const seen: unknown[] = [];
    const count = defineJob({
      key: 'inline-count',
      isolation: 'inline',
      run: (params: { n: number }) => void seen.push(params.n),
    });
    const producer = await create({ worker: false });
    const entries = Array.from({ length: 3_000 }, (_, n) => ({ definition: count, params: { n } }));
    await producer.enqueueMany(entries);
    await create({ jobs: [count], concurrency: 250 });
    await until('all have ended', async () => {
      const rows = await database.sql(
        `select 1 from longshore.done d join longshore.queue l using (shard, queue)
         where l.key = 'inline-count' and d.state = 'succeeded' and d.attempts = 1`,
      );
      return rows.length === 3_000;
    });
    expect(new Set(seen)).toEqual(new Set(entries.map(({ params }) => params.n)));
    expect(seen).toHaveLength(3_000);
  });
});

describe('fresh processes', () => {
  it('are used for one job only', async () => {
    const longshore = await create({ jobs: join(FIXTURES, 'fresh/pid.ts'), concurrency: 2 });
    const pids = new Set<unknown>();
    for (let count = 0; count < 4; count += 1) {
      const { id: jobId } = await longshore.enqueue('fresh-pid', {});
      pids.add((await ended(jobId)).result);
    }
    expect(pids.size).toBe(4);
    expect(pids).not.toContain(process.pid);
    await until('used processes are gone', () => {
      const alive = descendants(process.pid).map(({ pid }) => pid);
      return ![...pids].some((pid) => alive.includes(pid as number));
    });
  });
});

describe('handles', () => {
  it('wait, follow and cancel as those of the client do', async () => {
    const longshore = await create({ jobs: [greet, broken] });
    const handle = await longshore.enqueue(greet, { name: 'you' });
    expect(await handle.result()).toBe('Hello, you');
    expect(await handle.attempts()).toHaveLength(1);
    const lines = [];
    for await (const { message } of handle.logs({ follow: true })) lines.push(message);
    expect(lines).toEqual(['greeting']);
    const types = [];
    for await (const { type } of handle.events({ follow: true })) types.push(type);
    expect(types).toEqual(['created', 'queued', 'started', 'succeeded']);
    await expect(handle.cancel()).rejects.toThrow(Conflict);

    const [held, failing] = await longshore.enqueueMany([
      { definition: greet, params: { name: 'a' }, options: { hold: true } },
      { definition: broken },
    ]);
    expect(await longshore.release(held.id)).toMatchObject({ status: 'queued' });
    expect(await held.result()).toBe('Hello, a');
    const failure = await failing.result().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(JobFailed);
    expect(failure).toMatchObject({ job: { error: { code: 'NON_RETRYABLE' } } });
  });

  it('refuse by the same classes', async () => {
    const longshore = await create({ worker: false });
    await expect(longshore.handle('unknown').get()).rejects.toThrow(NotFound);
    await expect(longshore.enqueue('x', {}, { delayMs: -1 })).rejects.toThrow(InvalidRequest);
    await longshore.enqueue('x', { a: 1 }, { idempotencyKey: 'same' });
    const second = longshore.enqueue('x', { a: 2 }, { idempotencyKey: 'same' });
    await expect(second).rejects.toThrow(IdempotencyConflict);
  });

  it('report an unavailable database as a server would', async () => {
    const url = 'postgres://unknown@127.0.0.1:9/nowhere';
    const [db, waker] = [
      Db.open({ clock: systemClock, url, log: silentLog }),
      new Waker(url, silentLog, systemClock),
    ];
    const jobs = new LocalJobs(db, new Enqueuer(db, waker, systemClock));
    const handle = jobs.handle('01980000-0000-7000-8000-000000000000');
    await expect(handle.get()).rejects.toThrow(Unavailable);
    await expect(jobs.enqueue('x')).rejects.toMatchObject({ status: 503, code: 'UNAVAILABLE' });
    await expect(handle.wait({ timeoutMs: 300 })).rejects.toThrow(WaitTimeout);
    await db.close();
    await waker.close();
  });

  const greet = defineJob({
    key: 'inside-greet',
    isolation: 'inline',
    run: ({ name }: { name: string }, { logger }) => {
      logger.info('greeting');
      return `Hello, ${name}`;
    },
  });
  const broken = defineJob({
    key: 'inside-broken',
    isolation: 'inline',
    run: () => {
      throw new NonRetryable('never');
    },
  });
});

describe('a start', () => {
  it('refuses code at hand that would need a process to load it', async () => {
    const lonely = defineJob({ key: 'lonely', run: () => 1 });
    await expect(create({ jobs: [lonely] })).rejects.toMatchObject({
      problems: [expect.stringContaining("isolation: 'inline'")],
    });
  });

  it('brings its own PostgreSQL when no database is given', async () => {
    const here = defineJob({ key: 'here', isolation: 'inline', run: () => 'here' });
    const longshore = await createLongshore({ data: folder, jobs: [here] });
    open.push(longshore);
    expect(await (await longshore.enqueue(here, {})).result()).toBe('here');
  });
});

describe('many callers at once', () => {
  it('share commits, and each gets the answer to its own request', async () => {
    const longshore = await create({ worker: false });
    const receipts = await Promise.all(
      Array.from({ length: 300 }, async (_, n) => await longshore.enqueue('shared', { n })),
    );
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(300);
    for (const [n, { id: jobId }] of receipts.entries()) {
      if (n % 50 === 0) {
        expect(await getJob(database.db, 'default', jobId)).toMatchObject({ params: { n } });
      }
    }
    const [row] = await database.sql<{ commits: string }>(
      `select count(distinct j.xmin::text) as commits from longshore.job j
       join longshore.queue l using (shard, queue) where l.key = 'shared'`,
    );
    expect(Number(row?.commits)).toBeLessThan(100);
  });

  it('are refused one by one: a bad row fails its own caller only', async () => {
    const longshore = await create({ worker: false });
    await longshore.enqueue('clash', { a: 1 }, { idempotencyKey: 'taken' });
    const results = await Promise.allSettled([
      longshore.enqueue('clash', { a: 1 }, { idempotencyKey: 'one' }),
      longshore.enqueue('clash', { a: 2 }, { idempotencyKey: 'taken' }),
      longshore.enqueue('clash', { a: 1 }, { idempotencyKey: 'two' }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('of mistyped options name the nearest option, and of wrong values the limits', async () => {
    const mistyped = { worker: false, concurency: 3, pollMs: -1 } as never;
    await expect(create(mistyped)).rejects.toMatchObject({
      problems: [
        expect.stringContaining('did you mean "concurrency"?'),
        expect.stringContaining('pollMs'),
      ],
    });
  });

  it('of bad params are refused before anything is stored', async () => {
    const longshore = await create({ worker: false });
    await expect(longshore.enqueue('bad', { big: 'x'.repeat(200_000) })).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
    await expect(longshore.enqueue('bad', {}, { prioritty: 1 } as never)).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
  });
});
