import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatsView } from '../../../src/core/views/stats.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/values/duration.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { counterKeeper } from '../../../src/scheduler/counter-keeper.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import {
  rollUpCounters,
  forgetCounters,
  recountCounters,
} from '../../../src/store/counters/roll-up.ts';
import { readSuspended } from '../../../src/store/counters/read-suspended.ts';
import {
  postgresVersions,
  testDatabase,
  type TestDatabase,
  sharedDatabase,
} from '../../support/servers/database.ts';
import { serverOn, callAs, newKey, newTenant } from '../../support/server-edge.ts';
import { publish, take } from '../../support/limits.ts';
import {
  claimAny,
  enqueueOne,
  failure,
  newWorker,
  request,
  settleAs,
  SUCCESS,
} from '../../support/jobs.ts';
import { readPrometheusText } from '../../support/servers/prometheus-text.ts';
import { expectTrueCounters } from '../../support/checks/counters.ts';

/** That every statement counts what it moves is held by `statements`, `lifecycle` and `model`. */
describe.each(postgresVersions())('the counters on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });

  const fold = async (limit = 1_000) => await rollUpCounters(database.db, 0, '-infinity', limit);
  const moves = async (key: string) =>
    await database.sql<{ move: string; n: number }>(
      `select concat_ws(' ', was, '->', state, code, attempt) as move, n::int as n
       from longshore.counter t join longshore.queue l using (shard, queue) where l.key = $1
       order by 1`,
      [key],
    );

  it('keeps what moved, by kind, code and attempt', async () => {
    const worker = await newWorker(database);
    for (let n = 0; n < 6; n += 1) await enqueueOne(database, { definitionKey: 'one' });
    const held = await enqueueOne(database, { definitionKey: 'one', hold: true });
    const [good, retried, own, lost, ...more] = await claimAny(database, worker, 6);
    if (!good || !retried || !own || !lost) throw new Error('not claimed');
    await settleAs(database, good, SUCCESS);
    await settleAs(database, retried, failure('TIMEOUT'));
    await settleAs(database, own, failure('MY_OWN'));
    await settleAs(database, lost, { kind: 'lost', message: 'gone' });
    await cancelJob(database.db, 'default', held);
    await cancelJob(database.db, 'default', more[0]?.id ?? '');
    await cancelJob(database.db, 'default', more[0]?.id ?? '');
    await expectTrueCounters(database);
    while ((await fold(3)).rows > 0);
    await expectTrueCounters(database);
    expect(await database.sql('select from longshore.counter_delta')).toEqual([]);
    expect(await moves('one')).toEqual(
      [
        ['-> created', 1],
        ['-> queued', 6],
        ['created -> cancelled', 1],
        ['queued -> running', 6],
        ['running -> cancelling', 1],
        ['running -> queued LEASE_EXPIRED', 1],
        ['running -> retrying TIMEOUT 1', 1],
        ['running -> retrying other 1', 1],
        ['running -> succeeded', 1],
      ].map(([move, n]) => ({ move, n })),
    );
    const spans = await database.sql(
      `select s.state::text, (s.bucket >= 0) as ran, sum(s.n)::int as n from longshore.counter_span s
       where s.slot = '-infinity' group by 1, 2 order by 1, 2`,
    );
    expect(spans).toEqual([
      { state: 'cancelled', ran: false, n: 1 },
      { state: 'queued', ran: true, n: 1 },
      { state: 'retrying', ran: true, n: 2 },
      { state: 'running', ran: true, n: 6 },
      { state: 'succeeded', ran: true, n: 1 },
    ]);
    const minutes = `select sum(enqueued)::int as enqueued, sum(started)::int as started,
      sum(succeeded)::int as succeeded, sum(cancelled)::int as cancelled, sum(retried)::int as retried
      from longshore.counter_series where minutes = 1 and key = ''`;
    expect(await database.sql(minutes)).toEqual([
      { enqueued: 7, started: 6, succeeded: 1, cancelled: 1, retried: 2 },
    ]);
  });

  it('counts each row once, however many fold at the same time', async () => {
    for (let n = 0; n < 20; n += 1) await enqueueOne(database, { definitionKey: 'many' });
    await Promise.all(Array.from({ length: 8 }, async () => await fold(5)));
    while ((await fold()).rows > 0);
    expect(await moves('many')).toEqual([{ move: '-> queued', n: 20 }]);
  });

  it('writes one row for a whole batch of one kind', async () => {
    while ((await fold()).rows > 0);
    const { enqueuer, sql } = database;
    await enqueuer.start(Array.from({ length: 10 }, () => request({ definitionKey: 'batch' })));
    const rows = 'select was, state, n from longshore.counter_delta';
    expect(await sql(rows)).toEqual([{ was: null, state: 'queued', n: 10 }]);
  });

  it('starts at its floor, and forgets what is over', async () => {
    await enqueueOne(database, { definitionKey: 'late' });
    expect((await rollUpCounters(database.db, 0, '2100-01-01T00:00:00Z', 10)).rows).toBe(0);
    while ((await fold()).rows > 0);
    await database.sql(`update longshore.counter_span set slot = slot - interval '20 days'`);
    expect(await forgetCounters(database.db, 0)).toBeGreaterThan(0);
    const slots = `select from longshore.counter_span where slot > '-infinity'`;
    expect(await database.sql(slots)).toEqual([]);
    const ever = `select from longshore.counter_span where slot = '-infinity'`;
    expect((await database.sql(ever)).length).toBeGreaterThan(0);
  });

  it('keeps the times of a week by the hour, for alerts', async () => {
    await enqueueOne(database, { definitionKey: 'timed' });
    const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * DAY_MS).toISOString();
    await database.sql(
      `insert into longshore.counter_span (shard, queue, slot, state, bucket, n, ms)
       select 0, queue, h.at + s.later, s.state, s.bucket, 2, 9 from longshore.queue,
         (values ($1::timestamptz)) h(at),
         (values (interval '0', 'running'::longshore.job_state, 3), ('15 min', 'running', 3),
           ('45 min', 'failed', 3), ('30 min', 'succeeded', 3), ('30 min', 'cancelled', -1)
         ) s(later, state, bucket)
       where key = 'timed' and version = 1`,
      [hour],
    );
    await forgetCounters(database.db, 0);
    // What is forgotten later is added.
    await database.sql(
      `insert into longshore.counter_span (shard, queue, slot, state, bucket, n, ms)
       select 0, queue, $1, 'running', 3, 1, 9
       from longshore.queue where key = 'timed' and version = 1`,
      [hour],
    );
    await forgetCounters(database.db, 0);
    const hours = `select h.waited, h.bucket, h.n::int as n from longshore.counter_hour h
      where h.hour = $1 order by 1`;
    expect(await database.sql(hours, [hour])).toEqual([
      { waited: false, bucket: 3, n: 4 },
      { waited: true, bucket: 3, n: 5 },
    ]);
    await database.sql(`update longshore.counter_hour set hour = hour - interval '7 days'`);
    expect(await forgetCounters(database.db, 0)).toBe(2);
    expect(await database.sql('select from longshore.counter_hour')).toEqual([]);
  });

  it('is kept by a scheduler, which finds what was committed late a little later', async () => {
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const keeper = counterKeeper(database.db, clock, silentLog);
    const round = async () => {
      await keeper.start();
      await keeper.stop();
      return (await database.sql('select from longshore.counter_delta')).length;
    };
    await enqueueOne(database, { definitionKey: 'kept' });
    expect(await round()).toBe(0);
    await enqueueOne(database, { definitionKey: 'kept' });
    await database.sql(`update longshore.counter_delta set at = at - interval '1 hour'`);
    await enqueueOne(database, { definitionKey: 'kept' });
    expect(await round()).toBe(1);
    nowMs += 60_000;
    expect(await round()).toBe(0);
    expect(await moves('kept')).toEqual([{ move: '-> queued', n: 3 }]);
  });

  it('is corrected by a recount, rolled up or not, when jobs were removed uncounted', async () => {
    expect(await recountCounters(database.db, 0)).toBe(0);
    await database.sql(`set session_replication_role = replica;
      delete from longshore.waiting; delete from longshore.done;
      set session_replication_role = default`);
    expect(await recountCounters(database.db, 0)).toBeGreaterThan(20);
    await expectTrueCounters(database);
    expect(await recountCounters(database.db, 0)).toBe(0);
    while ((await fold()).rows > 0);
    expect(await recountCounters(database.db, 0)).toBe(0);
  });
});

describe('GET /v1/stats', () => {
  let database: TestDatabase;
  let app: FastifyInstance;

  beforeAll(async () => {
    database = await testDatabase({ shards: 2 });
    app = serverOn(database);
  });
  afterAll(async () => {
    await app.close();
    await database.close();
  });

  const stats = async (key: string | null, query = ''): Promise<StatsView> => {
    for (const shard of [0, 1]) {
      while ((await rollUpCounters(database.db, shard, '-infinity', 1_000)).rows > 0);
    }
    const { status, body } = await callAs(app, key, 'GET', `/v1/stats${query}`);
    expect(status).toBe(200);
    return body as unknown as StatsView;
  };

  it('shows what there is and what happened, of all shards', async () => {
    for (const definitionKey of ['a', 'b', 'c', 'd']) await enqueueOne(database, { definitionKey });
    await enqueueOne(database, { definitionKey: 'a', priority: -5 });
    await enqueueOne(database, { definitionKey: 'a', delayMs: 3_600_000 });
    const seen = await stats(null, '?seriesMinutes=5');
    expect(seen.totals).toMatchObject({ queued: 5, scheduled: 1, running: 0, succeeded: 0 });
    expect(seen.definitions.map(({ key, depth }) => [key, depth])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
      ['d', 1],
    ]);
    expect(seen.definitions[0]?.oldestAgeMs).toEqual(expect.any(Number));
    expect(seen.definitions[0]).toMatchObject({ successRate: null, waitMs: { p50: null } });
    expect(seen.throughput.enqueued).toHaveLength(5);
    expect(seen.throughput.enqueued.reduce((sum, n) => sum + n, 0)).toBe(6);
    expect(seen.windowMinutes).toBe(60);
  });

  it('shows how jobs ended', async () => {
    const worker = await newWorker(database);
    const claimed = await claimAny(database, worker, 10);
    expect(claimed.length).toBeGreaterThan(1);
    const [good, ...bad] = claimed;
    if (good) await settleAs(database, good, SUCCESS);
    for (const job of bad) await settleAs(database, job, failure('NOT_FOUND'));
    const { definitions, totals } = await stats(null);
    expect(totals).toMatchObject({ succeeded: 1, failed: bad.length });
    const rates = definitions.flatMap(({ successRate }) => successRate ?? []);
    expect(rates.every((rate) => rate >= 0 && rate <= 1)).toBe(true);
    const ran = definitions.filter(({ runMs }) => runMs.p99 !== null);
    expect(ran.length).toBeGreaterThan(0);
    expect(ran.every(({ waitMs }) => waitMs.p50 !== null)).toBe(true);
  });

  it('is about the tenant of the caller', async () => {
    await newTenant(database, 'acme');
    await enqueueOne(database, { tenant: 'acme', definitionKey: 'theirs' });
    const { key } = await newKey(database, 'acme', 'jobs:read');
    const { definitions, totals, throughput } = await stats(key);
    expect(definitions.map((one) => one.key)).toEqual(['theirs']);
    expect(totals).toMatchObject({ queued: 1, succeeded: 0, failed: 0 });
    expect(throughput.enqueued.reduce((sum, n) => sum + n, 0)).toBe(1);
    expect((await callAs(app, key, 'GET', '/v1/stats?windowMinutes=1')).status).toBe(400);
    expect((await callAs(app, key, 'GET', '/v1/stats?window=60')).status).toBe(400);
  });

  it('has the same figures for Prometheus, of all tenants, and for the operator', async () => {
    const { key } = await newKey(database, 'default', 'operate');
    const { status, text, headers } = await callAs(app, key, 'GET', '/metrics');
    expect([status, headers['content-type']]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const families = readPrometheusText(text);
    const valueOf = (name: string, labels: Record<string, string>) =>
      families
        .get(name)
        ?.samples.find((one) => Object.entries(labels).every(([k, v]) => one.labels[k] === v))
        ?.value;
    expect(valueOf('longshore_jobs', { definition: 'theirs', state: 'queued' })).toBe(1);
    expect(valueOf('longshore_jobs', { definition: 'a', state: 'scheduled' })).toBe(1);
    expect(valueOf('longshore_jobs_enqueued_total', { definition: 'a' })).toBe(3);
    expect(valueOf('longshore_queue_oldest_age_seconds', { definition: 'theirs' })).toBeGreaterThan(
      0,
    );
    const ended = families.get('longshore_jobs_finished_total')?.samples ?? [];
    const missing = ended.filter(({ labels }) => labels['code'] === 'NOT_FOUND');
    expect(missing.some(({ value }) => value > 0)).toBe(true);
    const active = { status: 'active' };
    expect(valueOf('longshore_workers', { ...active, transport: 'database' })).toBe(1);
    expect(valueOf('longshore_workers', { ...active, transport: 'http' })).toBe(0);
    expect(valueOf('longshore_slots', { state: 'busy', transport: 'database' })).toBeDefined();
    expect(valueOf('longshore_wanted_slots', {})).toBeGreaterThan(0);
    expect(valueOf('longshore_database_table_bytes', { table: 'waiting' })).toBeGreaterThan(0);
    expect(valueOf('longshore_jobs_suspended', { cause: 'signal' })).toBe(0);
    for (const [tenant, scope] of [
      ['default', 'jobs:read'],
      ['acme', 'admin'],
    ] as const) {
      const { key: other } = await newKey(database, tenant, scope);
      expect((await callAs(app, other, 'GET', '/metrics')).status).toBe(403);
    }
  });
});

describe('suspended jobs by cause', () => {
  const database = sharedDatabase();

  it('counts all signals as one cause, and each other cause', async () => {
    const worker = await newWorker(database);
    const parent = await enqueueOne(database, { hold: true });
    for (const signal of ['go', 'zebra', '9.to-5']) {
      await enqueueOne(database, {});
      const [job] = await claimAny(database, worker, 1);
      if (job) await settleAs(database, job, { kind: 'suspended', signal, timeoutMs: HOUR_MS });
    }
    const after = { jobs: [parent], onFailure: 'fail' } as const;
    for (let n = 0; n < 2; n += 1) await enqueueOne(database, { after });
    const found = await readSuspended(database.db, 0);
    const count = (cause: string) =>
      found.filter((one) => one.cause === cause).reduce((sum, { jobs }) => sum + jobs, 0);
    expect([count('signal'), count('parents')]).toEqual([3, 2]);
    const [{ total } = { total: 0 }] = await database.sql<{ total: number }>(
      `select count(*)::int as total from longshore.waiting where state = 'suspended'`,
    );
    expect(total).toBe(5);
  });
});

describe('the problems in GET /v1/stats', () => {
  let database: TestDatabase;
  let app: FastifyInstance;

  beforeAll(async () => {
    database = await testDatabase();
    app = serverOn(database);
  });
  afterAll(async () => {
    await app.close();
    await database.close();
  });

  const stats = async (): Promise<StatsView> => {
    while ((await rollUpCounters(database.db, 0, '-infinity', 1_000)).rows > 0);
    return (await callAs(app, null, 'GET', '/v1/stats')).body as unknown as StatsView;
  };

  it('finds what no worker can run, and the oldest job, behind a backlog', async () => {
    await publish(database, 'busy');
    const worker = await newWorker(database);
    await database.sql(`update longshore.worker set definitions = $2 where instance = $1`, [
      worker,
      ['busy@1'],
    ]);
    const busy = { definitionKey: 'busy' };
    const first = await enqueueOne(database, busy);
    for (let n = 1; n < 60; n += 1) await enqueueOne(database, busy);
    const lost = await enqueueOne(database, { definitionKey: 'lost' });
    await database.sql(
      `update longshore.waiting set queued_at = queued_at - interval '10 minutes',
         seq = seq - 600000000 where id = any ($1)`,
      [[first, lost]],
    );
    const { definitions } = await stats();
    const of = (key: string) => definitions.find((one) => one.key === key);
    expect(of('busy')).toMatchObject({ depth: 60, oldestJobId: first, unserved: null });
    expect(of('busy')?.oldestAgeMs).toBeGreaterThan(599_000);
    expect(of('lost')?.unserved).toMatchObject({ depth: 1, oldestJobId: lost });
  });

  it('knows the age of a job that waits behind a concurrency key', async () => {
    await publish(database, 'keyed', { concurrencyKeyLimit: 1 });
    const keyed = { definitionKey: 'keyed', concurrencyKey: 'k' };
    const worker = await newWorker(database);
    await enqueueOne(database, keyed);
    const waiting = await enqueueOne(database, keyed);
    await take(database, worker, 100);
    await database.sql(
      `update longshore.waiting set queued_at = queued_at - interval '10 minutes' where id = $1`,
      [waiting],
    );
    const { definitions } = await stats();
    const seen = definitions.find(({ key }) => key === 'keyed');
    expect(seen).toMatchObject({ oldestJobId: waiting });
    expect(seen?.oldestAgeMs).toBeGreaterThan(599_000);
  });
});
