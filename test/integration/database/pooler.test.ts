import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { inspectServer } from '../../../src/store/connection/server-version.ts';
import { jobInState, post, readJob, startJob } from '../../support/api.ts';
import {
  emptyDatabase,
  onCluster,
  testDatabase,
  type TestDatabase,
  sharedDatabase,
} from '../../support/servers/database.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from '../../support/servers/pgbouncer.ts';
import { endAll, FIXTURES, launch, run, type Running } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

/**
 * Everything through PgBouncer in transaction mode: code that leaves state in a session, or expects
 * to find it there, fails here. Many clients share three connections to the database.
 */

const POOL_SIZE = 3;

const LEFT_BEHIND = {
  name: 'left_behind',
  text: `select (select count(*)::int from pg_prepared_statements) as prepared,
    (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())
      as locks,
    current_setting('synchronous_commit') as commits, current_setting('enable_seqscan') as scans`,
};

const database = sharedDatabase();
let pgbouncer: Pgbouncer;
let folder: string;
let env: Record<string, string>;
let address: string;
const workers: Running[] = [];

const databaseName = ({ url }: TestDatabase) => new URL(url).pathname.slice(1);
const launchWorker = async () => workers.push(await launch('worker', { env }));

beforeAll(async () => {
  if (!hasPgbouncer) return;
  // The test cluster waits for no disk; here a session that turns waiting off must show.
  await database.sql(`alter database ${databaseName(database)} set synchronous_commit = on`);
  pgbouncer = await startPgbouncer(inject('clusterUrl'), POOL_SIZE, { stats_users: 'longshore' });
  folder = await mkdtemp(join(tmpdir(), 'longshore-pooler-'));
  env = {
    DATABASE_URL: pgbouncer.through(database.url),
    LONGSHORE_POOLER: 'transaction',
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_CONCURRENCY: '3',
    LONGSHORE_LEASE_MS: '3000',
    LONGSHORE_POLL_MS: '100',
    LONGSHORE_DRAIN_MS: '100',
  };
  address = (await launch('api', { env })).summary.address;
  await Promise.all([launchWorker(), launchWorker()]);
});
afterAll(async () => {
  if (!hasPgbouncer) return;
  await endAll();
  await pgbouncer.server.remove();
  await rm(folder, { recursive: true });
});

async function cancel(jobId: string): Promise<void> {
  expect(await post(`${address}/v1/jobs/${jobId}/cancel`, {})).toMatchObject({ status: 202 });
  await jobInState(address, jobId, 'cancelled');
}

/** Asks PgBouncer itself: its console looks like a database. */
async function pools(): Promise<{ clients: number; servers: number }> {
  const console = new URL(pgbouncer.through(database.url));
  console.pathname = '/pgbouncer';
  let seen = { clients: 0, servers: 0 };
  await onCluster(console.href, async (client) => {
    const { rows } = await client.query<Record<string, string>>('show pools');
    const row = rows.find((pool) => pool['database'] === databaseName(database));
    const sum = (...names: string[]) =>
      names.reduce((total, name) => total + Number(row?.[name] ?? 0), 0);
    seen = {
      clients: sum('cl_active', 'cl_waiting'),
      servers: sum('sv_active', 'sv_idle', 'sv_used', 'sv_tested', 'sv_login'),
    };
  });
  return seen;
}

describe.skipIf(!hasPgbouncer)('through a transaction pooler (needs pgbouncer)', () => {
  it('jobs of many callers run, each once, on three connections', async () => {
    const file = join(folder, 'many');
    const ids = await Promise.all(
      Array.from({ length: 200 }, async () => await startJob(address, 'record', { file })),
    );
    for (const id of ids) await jobInState(address, id, 'succeeded');
    const starts = readFileSync(file, 'utf8').match(/^start \S+/gm) ?? [];
    expect(starts.map((line) => line.slice(6)).sort()).toEqual([...ids].sort());
    const seen = await pools();
    expect(seen.servers).toBeLessThanOrEqual(POOL_SIZE);
    expect(seen.clients).toBeGreaterThan(POOL_SIZE);
  });

  it('a batch with idempotency keys is one transaction', async () => {
    const jobs = Array.from({ length: 20 }, (_, index) => ({
      definitionKey: 'echo',
      params: index,
      idempotencyKey: `key-${index}`,
    }));
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => post(`${address}/v1/jobs/batch`, { jobs })),
    );
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    const ids = answers.map(({ body }) => (body as { jobs: { jobId: string }[] }).jobs);
    const distinct = new Set(ids.flat().map(({ jobId }) => jobId));
    expect(distinct.size).toBe(20);
    for (const id of distinct) await jobInState(address, id, 'succeeded');
  });

  it('a job is retried when its time has come, and fails when its attempts are used up', async () => {
    const more = { maxAttempts: 2, retry: { baseMs: 50 } };
    const id = await startJob(address, 'exit-early', { code: 3 }, more);
    expect(await jobInState(address, id, 'failed')).toMatchObject({
      attempts: 2,
      error: { code: 'CRASHED' },
    });
  });

  it('a cancel reaches a running job by the heartbeat alone', async () => {
    const id = await startJob(address, 'wait-for-abort');
    await jobInState(address, id, 'running');
    await cancel(id);
    const listeners = await database.sql(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'longshore listen'`,
    );
    expect(listeners).toEqual([]);
  });

  it('the jobs of a killed worker are recovered, and only those', async () => {
    const ids = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(() => startJob(address, 'wait-for-abort')),
    );
    const [victim] = workers.splice(0, 1);
    // A worker of short jobs claims ahead, and returns after a moment what it cannot start. So wait
    // until each worker runs three jobs. On a busy machine a worker may have registered twice.
    const ofVictim = async () => {
      const jobs = await Promise.all(ids.map((id) => readJob(address, id)));
      const rows = await database.sql<{ instance: string }>(
        'select instance from longshore.worker where pid = $1',
        [victim?.pid],
      );
      const instances = new Set(rows.map(({ instance }) => instance));
      const running = jobs.filter(({ status }) => status === 'running');
      const mine = running.filter(({ workerId }) => instances.has(workerId ?? ''));
      return running.length === 6 && mine.length === 3 ? { jobs, mine } : null;
    };
    const { jobs, mine } = await until('each worker runs three jobs', ofVictim);
    victim?.signal('SIGKILL');
    await launchWorker();
    for (const job of jobs) {
      const attempts = mine.includes(job) ? job.attempts + 1 : job.attempts;
      await until(`attempt ${attempts} runs`, async () => {
        const now = await readJob(address, job.jobId);
        return now.status === 'running' && now.attempts === attempts;
      });
      await cancel(job.jobId);
    }
  });

  it('nothing was left in a session: neither prepared nor set nor locked', async () => {
    const db = Db.open({
      clock: systemClock,
      url: pgbouncer.through(database.url),
      pooler: 'transaction',
      log: silentLog,
    });
    const everyone = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    // Transactions that wait for each other are in a session each: together they see all of them.
    const looks = Array.from({ length: POOL_SIZE }, async () => {
      await db.transaction(async (tx) => {
        seen.push(...(await tx.run(LEFT_BEHIND)));
        if (seen.length === POOL_SIZE) everyone.resolve();
        await everyone.promise;
      });
    });
    await Promise.all(looks);
    await db.close();
    expect(new Set(seen.map((row) => JSON.stringify(row)))).toEqual(
      new Set([JSON.stringify({ prepared: 0, locks: 0, commits: 'on', scans: 'on' })]),
    );
  });

  it('a restart of the pooler is waited for, by the same processes', async () => {
    const before = await startJob(address, 'wait-for-abort');
    await jobInState(address, before, 'running');
    await pgbouncer.server.kill();
    const away = await fetch(`${address}/v1/jobs/${before}`);
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
    await pgbouncer.server.start();
    const after = await until('the API takes jobs again', async () =>
      startJob(address, 'echo').catch(() => null),
    );
    await jobInState(address, after, 'succeeded');
    expect(await readJob(address, before)).toMatchObject({ status: 'running', attempts: 1 });
    await cancel(before);
    for (const worker of workers) expect(worker.stderr()).not.toMatch(/unhandled|uncaught/i);
  });

  it('the settings that plans rely on can be those of the role', async () => {
    const database = await testDatabase();
    const options = { url: pgbouncer.through(database.url), pooler: 'transaction' as const };
    const tuned = async () =>
      (await inspectServer({ clock: systemClock, ...options, log: silentLog })).tuned;
    expect(await tuned()).toBe(false);
    const [block] = blocksOf('docs/operate/poolers.md', 'sql');
    const role = `role longshore in database ${databaseName(database)}`;
    await database.sql((block?.text ?? '').replaceAll('role jobs in database jobs', role));
    // A session that was there before keeps what it had.
    await database.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    await until('a new session has them', async () => await tuned().catch(() => false));
    await database.close();
  });

  it('an empty database is migrated, by several processes at once', async () => {
    const empty = await emptyDatabase();
    const url = pgbouncer.through(empty.url);
    const runs = await Promise.all(
      [1, 2, 3, 4].map(() => run(['migrate', '--json'], { env: { ...env, DATABASE_URL: url } })),
    );
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const applied = runs.flatMap(
      ({ stdout }) => (JSON.parse(stdout) as { applied: string[] }).applied,
    );
    expect(applied.length).toBeGreaterThan(0);
    expect(new Set(applied).size).toBe(applied.length);
    await empty.drop();
  });
});

describe.skipIf(!hasPgbouncer)('without LONGSHORE_POOLER (needs pgbouncer)', () => {
  const others: Pgbouncer[] = [];
  afterEach(async () => {
    for (const other of others.splice(0)) await other.server.remove();
  });

  it.each([
    ['refuses session settings', {}, 'unsupported startup parameter: options; behind'],
    [
      'swallows session settings',
      { ignore_startup_parameters: 'options' },
      'session settings do not reach the database: behind',
    ],
  ])('a pooler that %s is not started on, and the words say what to do', async (_, more, words) => {
    const other = await startPgbouncer(inject('clusterUrl'), 2, more);
    others.push(other);
    const { LONGSHORE_POOLER: _pooler, ...rest } = env;
    const direct = { ...rest, DATABASE_URL: other.through(database.url), LONGSHORE_PORT: '0' };
    const { code, stderr } = await run(['api'], { env: direct });
    expect(code).not.toBe(0);
    expect(stderr).toContain(`${words} a connection pooler, set LONGSHORE_POOLER=transaction`);
  });
});
