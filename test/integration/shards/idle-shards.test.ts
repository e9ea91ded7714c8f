import { Client } from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { localWorker } from '../../../src/app/local-worker.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { homeShard } from '../../../src/core/queue/shard.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { type Service, startAll, stopAll } from '../../../src/runtime/service.ts';
import { Db, type Statement } from '../../../src/store/connection/db.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { QUICK } from '../../support/servers/quick-worker.ts';
import { jobEnded } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** A worker with its schedulers and many shards in which nothing happens. */
const SHARDS = 64;
const LEASE_MS = 6_000;
const PATIENCE_MS = 90_000;

const released = new Set<string>();
const held = defineJob({
  key: 'held',
  isolation: 'inline',
  async run(params: { until: string }, ctx) {
    await until(params.until, () => released.has(params.until) || ctx.abortSignal.aborted);
  },
});
const HELD_SHARD = homeShard('default', 'held', SHARDS);

let stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const stop of stops.reverse()) await stop();
  stops = [];
});

async function startIdle(shards: number, pollMs: number): Promise<TestDatabase> {
  const database = await testDatabase({ shards });
  const { db, waker, url: databaseUrl } = database;
  const times = { pollMs, leaseMs: LEASE_MS, heartbeatMs: 1_000 };
  const settings = { ...QUICK, ...times, databaseUrl, jobs: [held], unservedAfterMs: 10_000 };
  const services: Service[] = localWorker(db, waker, settings, silentLog).services;
  stops.push(async () => {
    await stopAll(services);
    await database.close();
  });
  await startAll(services);
  return database;
}

/** Counts the statements of all connections, by the number of shards of their database. */
function countStatements(): Map<number, number> {
  const counts = new Map<number, number>();
  const run = Db.prototype.run;
  const counting = async function (this: Db, one: Statement<unknown>, values?: readonly unknown[]) {
    counts.set(this.shards, (counts.get(this.shards) ?? 0) + 1);
    return await run.call(this, one, values);
  };
  vi.spyOn(Db.prototype, 'run').mockImplementation(counting);
  return counts;
}

it(
  'many quiet shards cost at most three times as much as one',
  async () => {
    const counts = countStatements();
    await startIdle(1, 100);
    await startIdle(SHARDS, 100);
    await until(
      'while one shard is asked 200 times, all others together are asked 600 times at most',
      async () => {
        counts.clear();
        await until('it was asked 200 times', () => (counts.get(1) ?? 0) >= 200);
        return (counts.get(SHARDS) ?? 0) <= 600;
      },
      PATIENCE_MS,
    );
  },
  2 * PATIENCE_MS,
);

describe('in a quiet shard', () => {
  const leaseMs = async ({ sql }: TestDatabase) => {
    const [row] = await sql<{ ms: number }>(
      `select (extract(epoch from lease_until - heartbeat_at) * 1000)::float8 as ms
       from longshore.worker where shard = $1 and dead_at is null`,
      [HELD_SHARD],
    );
    return row?.ms ?? 0;
  };
  const becomesQuiet = async (database: TestDatabase) => {
    await until('the lease is stretched', async () => (await leaseMs(database)) > 3 * LEASE_MS);
  };

  it('a job starts by a hint, under a lease that is as short as any other', async () => {
    // No poll helps in the time of a test.
    const database = await startIdle(SHARDS, 60_000);
    expect(HELD_SHARD).not.toBe(0);
    await becomesQuiet(database);
    const paramsJson = JSON.stringify({ until: 'hinted' });
    const id = await enqueueOne(database, { definitionKey: 'held', paramsJson });
    await until('it runs', async () => {
      const rows = await database.sql('select from longshore.running where id = $1', [id]);
      return rows.length === 1;
    });
    expect(await leaseMs(database)).toBeLessThan(1.5 * LEASE_MS);
    released.add('hinted');
    expect(await jobEnded(database, id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    await becomesQuiet(database);
  });
});

it('a due time within the longest pause of a quiet shard is announced, with its shard', async () => {
  const database = await testDatabase({ shards: SHARDS });
  const heard: string[] = [];
  const listener = new Client({ connectionString: database.url });
  stops.push(
    async () => await database.close(),
    async () => await listener.end(),
  );
  await listener.connect();
  listener.on('notification', ({ payload = '' }) => heard.push(payload));
  await listener.query('listen longshore_due');
  await enqueueOne(database, { definitionKey: 'held', delayMs: 70_000 });
  await enqueueOne(database, { definitionKey: 'held', delayMs: 50_000 });
  await until('it was announced', () => heard.length > 0);
  expect(heard).toEqual([`jobs:50000:${HELD_SHARD}`]);
  const request = { definitionKey: 'held', params: {}, delayMs: 40_000 };
  await database.sql('select longshore.enqueue($1)', [JSON.stringify(request)]);
  await until('it was announced', () => heard.length > 1);
  expect(heard[1]).toBe(`jobs:40000:${HELD_SHARD}`);
});
