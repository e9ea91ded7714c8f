import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort, homePort } from '../../src/postgres/free-port.ts';
import { jobInState, post, startJob } from '../support/api.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { descendants, endAll, FIXTURES, launch, type Running } from '../support/processes.ts';
import { readPrometheusText } from '../support/servers/prometheus-text.ts';
import { until } from '../support/until.ts';

/** Several servers and workers, each its own process, on one database. */

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => await database.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-cluster-'));
  env = {
    DATABASE_URL: database.url,
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_CONCURRENCY: '3',
    LONGSHORE_POLL_MS: '200',
  };
});
afterEach(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

const unfinished = async () => {
  const rows = await database.sql<{ count: string }>(
    `select (select count(*) from longshore.waiting) + (select count(*) from longshore.running)
       as count`,
  );
  return Number(rows[0]?.count);
};

const startsOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('start '));

const metricsOf = async (address: string) =>
  readPrometheusText(await (await fetch(`${address}/metrics`)).text());

const isBusy = async (worker: Running | undefined) => {
  const rows = await database.sql(
    `select 1 from longshore.running r join longshore.worker w on w.instance = r.worker
     where w.pid = $1`,
    [worker?.pid],
  );
  return rows.length > 0;
};

describe('2 servers and 3 workers', () => {
  it('share 10,000 jobs, and each of them succeeds exactly once', async () => {
    const servers = [await launch('api', { env }), await launch('api', { env })];
    const metricsPort = String(await findFreePort(homePort(folder)));
    const own = { ...env, LONGSHORE_METRICS_PORT: metricsPort };
    await Promise.all([own, env, env].map(async (one) => await launch('worker', { env: one })));
    const file = join(folder, 'evidence');
    const job = { definitionKey: 'record', params: { file } };
    const batches = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const address = servers[index % 2]?.summary.address ?? '';
        const answer = await post(`${address}/v1/jobs/batch`, {
          jobs: Array.from({ length: 500 }, () => job),
        });
        expect(answer.status).toBe(202);
        return (answer.body as { jobs: { jobId: string }[] }).jobs.map(({ jobId }) => jobId);
      }),
    );
    const ids = batches.flat();
    await until('all have ended', async () => (await unfinished()) === 0, 150_000);
    const rows = await database.sql<{ state: string; attempts: number; count: string }>(
      'select state, attempts, count(*) from longshore.done group by 1, 2',
    );
    expect(rows).toEqual([{ state: 'succeeded', attempts: 1, count: '10000' }]);
    const ran = startsOf(file).map((line) => line.split(' ')[1]);
    expect(ran).toHaveLength(10_000);
    expect(new Set(ran)).toEqual(new Set(ids));
    const workers = await database.sql('select distinct worker from longshore.done');
    expect(workers).toHaveLength(3);

    // Each process reports the same about the cluster, and its own facts.
    for (const server of servers) {
      await until('all are counted', async () => {
        const families = await metricsOf(server.summary.address ?? '');
        const finished = families.get('longshore_jobs_finished_total')?.samples ?? [];
        return finished.some(({ labels, value }) => labels['code'] === '' && value === 10_000);
      });
    }
    const sizes = (await metricsOf(`http://127.0.0.1:${metricsPort}`)).get(
      'longshore_settle_batch_jobs',
    );
    const settled = sizes?.samples.find(({ name }) => name.endsWith('_sum'))?.value ?? 0;
    expect(settled).toBeGreaterThan(0);
    expect(settled).toBeLessThan(10_000);
  });

  it('make one job of an idempotent POST repeated by 50 callers at once', async () => {
    const servers = [await launch('api', { env }), await launch('api', { env })];
    const body = { definitionKey: 'unknown', params: { a: 1 }, idempotencyKey: 'order-1' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        post(`${servers[index % 2]?.summary.address}/v1/jobs`, body),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const ids = answers.map((answer) => (answer.body as { jobId: string }).jobId);
    expect(new Set(ids).size).toBe(1);
    await post(`${servers[0]?.summary.address}/v1/jobs/${ids[0]}/cancel`, {});
  });
});

describe('random kills', () => {
  it('of children and workers lose no acknowledged job', async () => {
    const server = await launch('api', { env });
    const { address } = server.summary;
    const workers: Running[] = [];
    const hasty = { env: { ...env, LONGSHORE_LEASE_MS: '1500' } };
    for (let count = 0; count < 2; count += 1) workers.push(await launch('worker', hasty));
    const params = { file: join(folder, 'evidence'), holdMs: 20 };
    const ids: string[] = [];
    const progress = { enqueuing: true };
    const producer = (async () => {
      for (let count = 0; count < 400; count += 1)
        ids.push(await startJob(address, 'record', params));
      progress.enqueuing = false;
    })();
    for (let round = 0; round < 12 || progress.enqueuing; round += 1) {
      const victim = workers[round % 2];
      const children = descendants(victim?.pid ?? 0);
      if (round % 3 === 2) {
        // A worker that is killed while it has nothing to do loses nothing, and shows nothing.
        await until('it runs a job', async () => {
          ids.push(await startJob(address, 'record', { ...params, holdMs: 300 }));
          return await isBusy(victim);
        });
        victim?.signal('SIGKILL');
        workers[round % 2] = await launch('worker', hasty);
      } else {
        const child = children[round % Math.max(1, children.length)];
        if (child) process.kill(child.pid, 'SIGKILL');
        await until('it works again', async () => {
          const id = await startJob(address, 'echo');
          return await jobInState(address, id, 'succeeded');
        });
      }
    }
    await producer;
    for (const id of ids) await jobInState(address, id, 'succeeded');
    const [lost] = await database.sql<{ count: string }>(
      `select count(*) from longshore.attempt where error_code = 'LEASE_EXPIRED'`,
    );
    expect(Number(lost?.count)).toBeGreaterThan(0);
  });
});
