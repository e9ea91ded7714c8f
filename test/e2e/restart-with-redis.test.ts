import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { jobInState, startJob } from '../support/api.ts';
import { EmbeddedFixture, query } from '../support/servers/embedded-fixture.ts';
import { endAll, FIXTURES, isAlive, launch, type Running } from '../support/processes.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/servers/redis.ts';
import { until } from '../support/until.ts';

/**
 * The database is shut down at once and is away for longer than a worker may run without it. The
 * worker beats in Redis: its lease in the database is two minutes long, and Redis remembers its beats
 * for half a minute. Neither may hold back its jobs when the worker is back.
 */
const LEASE_MS = 9_000;

let cluster: EmbeddedFixture;
let postgres: EmbeddedPostgres;
let redis: TestRedis;
let folder: string;
let server: Running;
let worker: Running;

beforeAll(async () => {
  if (!hasRedis) return;
  cluster = await EmbeddedFixture.create();
  postgres = cluster.server();
  await postgres.start();
  redis = await startRedis();
  folder = await mkdtemp(join(tmpdir(), 'longshore-restart-'));
  const env = {
    DATABASE_URL: postgres.url,
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_CONCURRENCY: '8',
    LONGSHORE_LEASE_MS: `${LEASE_MS}`,
    LONGSHORE_HEARTBEAT_MS: '1000',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_REDIS_URL: redis.url,
  };
  server = await launch('api', { env });
  worker = await launch('worker', { env });
});
afterAll(async () => {
  if (!hasRedis) return;
  await endAll();
  await redis.server.remove();
  await cluster.remove();
  await rm(folder, { recursive: true });
});

const oldestWorker = async () => {
  const [row] = await query(
    postgres.url,
    `select instance, contact_ms as "contactMs", dead_at < lease_until as "diedEarly",
       lease_until > clock_timestamp() + interval '60 s' as "longLease"
     from longshore.worker order by started_at limit 1`,
  );
  return row;
};

/** What was written about a job that has ended, by the database and by the job itself. */
const historyOf = async (name: string, id: string) => {
  const [done] = await query(
    postgres.url,
    `select claim_no::int as claims, attempts::int,
       array(select error_code from longshore.attempt where job_id = id) as errors
     from longshore.done where id = '${id}'`,
  );
  const lines = readFileSync(join(folder, name), 'utf8').matchAll(/^(\w+) \S+ (\d+) \d+$/gm);
  return { name, did: [...lines].map(([, what, attempt]) => `${what} ${attempt}`), ...done };
};

const pidOf = (name: string) =>
  Number(readFileSync(join(folder, name), 'utf8').trim().split(' ').at(-1));

const fences = () => worker.stderr().split('fenced: stopping').length - 1;

describe.skipIf(!hasRedis)('a database away for longer than a lease (needs redis-server)', () => {
  it('costs what runs one attempt, which waits for no lease, and costs what ended nothing', async () => {
    const { address } = server.summary;
    await until('the worker has its long lease', async () => {
      const row = await oldestWorker();
      return row?.['contactMs'] === LEASE_MS && row['longLease'] === true;
    });
    const begin = async (name: string) => {
      const file = join(folder, name);
      const params = { file, untilFile: join(folder, `${name}-may-end`) };
      const id = await startJob(address, 'record', params);
      await until('it runs', () => existsSync(file));
      return id;
    };
    const names = ['killed-1', 'killed-2', 'ended-1', 'ended-2'];
    const ids = new Map<string, string>();
    for (const name of names) ids.set(name, await begin(name));
    const beat = async (id: string) => await redis.command('GET', `job:${id}:heartbeat`);
    const instance = (await oldestWorker())?.['instance'];
    for (const id of ids.values()) {
      await until('Redis knows that it runs', async () => (await beat(id)) === instance);
    }

    process.kill(postgres.pid ?? 0, 'SIGQUIT');
    await postgres.stop();
    for (const name of ['ended-1', 'ended-2']) {
      writeFileSync(join(folder, `${name}-may-end`), '');
      await until('it has ended', () => readFileSync(join(folder, name), 'utf8').includes('end'));
    }
    await until('the worker has given up what it could not renew', () => fences() === 1);
    // It ends their processes a moment after it says so.
    for (const name of ['killed-1', 'killed-2']) {
      await until('its process is gone', () => !isAlive(pidOf(name)));
      writeFileSync(join(folder, `${name}-may-end`), '');
    }
    await postgres.start();

    for (const id of ids.values()) await jobInState(address, id, 'succeeded');
    for (const [name, id] of ids) {
      const once = { did: ['start 1', 'end 1'], claims: 1, attempts: 1, errors: [] };
      const twice = {
        did: ['start 1', 'start 2', 'end 2'],
        claims: 2,
        attempts: 2,
        errors: ['LEASE_EXPIRED'],
      };
      const wanted = name.startsWith('ended') ? once : twice;
      expect(await historyOf(name, id)).toEqual({ name, ...wanted });
    }
    // The worker itself ended its first lease, long before it was over.
    expect(await oldestWorker()).toMatchObject({ instance, diedEarly: true });
    expect(fences()).toBe(1);
  });
});
