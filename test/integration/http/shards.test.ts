import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeShard } from '../../../src/core/queue/shard.ts';
import type { ShardsView } from '../../../src/core/shards/shards.ts';
import { rollUpAll } from '../../../src/store/counters/roll-up.ts';
import { registerWorker } from '../../../src/store/workers/workers.ts';
import { claimAny, enqueueOne, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { callAs, newKey, newTenant, serverOn } from '../../support/server-edge.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { readPrometheusText } from '../../support/servers/prometheus-text.ts';

const SHARDS = 3;

/** A definition whose jobs live in that shard. */
const keyIn = (shard: number) => {
  for (let n = 0; ; n += 1) {
    const key = `job-${n}`;
    if (homeShard('default', key, SHARDS) === shard) return key;
  }
};

describe('GET /v1/shards', () => {
  let database: TestDatabase;
  let app: FastifyInstance;

  beforeAll(async () => {
    database = await testDatabase({ shards: SHARDS });
    app = serverOn(database);
  });
  afterAll(async () => {
    await app.close();
    await database.close();
  });

  const shards = async (): Promise<ShardsView> => {
    await rollUpAll(database.db);
    const { status, body } = await callAs(app, null, 'GET', '/v1/shards');
    expect(status).toBe(200);
    return body as unknown as ShardsView;
  };

  it('lists every shard with its database, even when nothing was enqueued', async () => {
    const { shards: all, windowSeconds } = await shards();
    expect(windowSeconds).toBeGreaterThanOrEqual(300);
    expect(all.map(({ shard }) => shard)).toEqual([0, 1, 2]);
    const name = new URL(database.url).pathname.slice(1);
    for (const one of all) {
      expect(one).toMatchObject({ problem: null, oldestAgeMs: null, lateMs: 0 });
      expect(one.node?.split('/').at(-1)).toBe(name);
      expect(one).toMatchObject({ enqueuedPerSecond: 0, endedPerSecond: 0 });
    }
  });

  it('counts jobs by state in the shard where they are', async () => {
    for (let n = 0; n < 30; n += 1) await enqueueOne(database, { definitionKey: keyIn(1) });
    await enqueueOne(database, { definitionKey: keyIn(2), delayMs: 3_600_000 });
    const [first, second, third] = (await shards()).shards;
    expect(first?.jobs).toMatchObject({ queued: 0, scheduled: 0 });
    expect(second?.jobs).toMatchObject({ queued: 30, scheduled: 0 });
    expect(second?.oldestAgeMs).toBeGreaterThanOrEqual(0);
    expect(second?.enqueuedPerSecond).toBeGreaterThan(0);
    expect(third?.jobs).toMatchObject({ queued: 0, scheduled: 1 });
    expect(third?.oldestAgeMs).toBeNull();
  });

  it('counts what ended, and live and dead workers', async () => {
    const other = keyIn(0);
    await enqueueOne(database, { definitionKey: other });
    const worker = await newWorker(database);
    const [job] = await claimAny(database, worker, 1);
    if (!job) throw new Error('not claimed');
    await settleAs(database, job, SUCCESS);
    const dead = '00000000-0000-7000-8000-00000000dead';
    const about = { host: 'gone', pid: 1, version: '1', slots: 1 };
    await registerWorker(database.db, 0, { ...about, instance: dead, leaseMs: 60_000 });
    await database.sql(
      `update longshore.worker set lease_until = clock_timestamp() - interval '1 second'
       where instance = $1`,
      [dead],
    );
    const [first, second] = (await shards()).shards;
    expect(first?.jobs?.queued).toBe(0);
    expect(first?.endedPerSecond).toBeGreaterThan(0);
    expect(second?.endedPerSecond).toBe(0);
    expect(first?.workers?.dead).toBe(1);
    expect(second?.workers?.dead).toBe(0);
    expect(first?.workers?.live).toBeGreaterThan(0);
  });

  it('reports the same per shard to Prometheus', async () => {
    await rollUpAll(database.db);
    const { text } = await callAs(app, null, 'GET', '/metrics');
    const samples = readPrometheusText(text).get('longshore_shard_jobs')?.samples ?? [];
    const queued = samples.filter(({ labels }) => labels['state'] === 'queued');
    expect(queued.map(({ labels, value }) => [labels['shard'], value])).toEqual([
      ['0', 0],
      ['1', 30],
      ['2', 0],
    ]);
    expect(readPrometheusText(text).has('longshore_shard_oldest_age_seconds')).toBe(true);
  });

  it('is for operators of the default tenant, because it counts all tenants', async () => {
    await newTenant(database, 'acme');
    const status = async (tenant: string, ...scopes: Parameters<typeof newKey>[2][]) => {
      const { key } = await newKey(database, tenant, ...scopes);
      return (await callAs(app, key, 'GET', '/v1/shards')).status;
    };
    expect(await status('default', 'operate')).toBe(200);
    expect(await status('default', 'jobs:read')).toBe(403);
    expect(await status('acme', 'admin')).toBe(403);
  });

  it('shows the others when one shard cannot be read', async () => {
    // The reading of shard 1 fails for real; the condition on the shard is applied first.
    await database.sql(`create function public.unless_broken(shard smallint, n bigint) returns bigint
      language plpgsql as $$ begin
        if shard = 1 then raise exception 'could not read block 7' using errcode = 'XX001'; end if;
        return n;
      end $$`);
    await database.sql('alter table longshore.counter rename to counter_kept');
    await database.sql(`create view longshore.counter as select shard, queue, was, state, code,
      attempt, public.unless_broken(shard, n) as n from longshore.counter_kept`);
    const { key } = await newKey(database, 'default', 'operate');
    const { status, body } = await callAs(app, key, 'GET', '/v1/shards');
    expect(status).toBe(200);
    const [first, second, third] = (body as unknown as ShardsView).shards;
    expect(second).toMatchObject({ shard: 1, node: null, jobs: null });
    expect(second?.problem).toContain('could not read block 7');
    expect(first).toMatchObject({ problem: null, jobs: { queued: 0 } });
    expect(third).toMatchObject({ problem: null, jobs: { scheduled: 1 } });
  });
});
