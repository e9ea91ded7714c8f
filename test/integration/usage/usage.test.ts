import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES, type Outcome } from '../../../src/core/job/lifecycle.ts';
import type { UsageView } from '../../../src/core/usage/usage.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { pruneUsage } from '../../../src/store/change/prune-usage.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { settle } from '../../../src/store/claim/settle.ts';
import { inTransaction } from '../../../src/store/connection/db.ts';
import { rollUpCounters } from '../../../src/store/counters/roll-up.ts';
import { writeTimings } from '../../../src/store/counters/timings.ts';
import { publishHooks } from '../../support/history.ts';
import { claimAny, enqueueOne, failure, newWorker, SUCCESS } from '../../support/jobs.ts';
import { callAs, newKey, newTenant, serverOn } from '../../support/server-edge.ts';
import {
  postgresVersions,
  testDatabase,
  type TestDatabase,
} from '../../support/servers/database.ts';

const MB = 1_000_000;

describe.each(postgresVersions())('GET /v1/usage on PostgreSQL %i', (postgres) => {
  let database: TestDatabase;
  let app: FastifyInstance;
  let worker: string;

  beforeAll(async () => {
    database = await testDatabase({ postgres });
    app = serverOn(database);
    worker = await newWorker(database);
  });
  afterAll(async () => {
    await app.close();
    await database.close();
  });

  const rollUp = async () => {
    while ((await rollUpCounters(database.db, 0, '-infinity', 1_000)).rows > 0);
  };
  const usage = async (query: string, key: string | null = null): Promise<UsageView> => {
    await rollUp();
    const { status, body } = await callAs(app, key, 'GET', `/v1/usage?${query}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    return body as unknown as UsageView;
  };
  const sums = async (definitionKey: string) =>
    (await usage(`groupBy=definition&definitionKey=${definitionKey}`)).total;

  const begin = async (definitionKey: string, tenant = 'default'): Promise<ClaimedJob> => {
    await enqueueOne(database, { definitionKey, tenant });
    const [job] = await claimAny(database, worker, 1);
    if (!job) throw new Error('not claimed');
    return job;
  };
  /** Ends an attempt that ran for four seconds in a process of its own, or inline. */
  const end = async (
    job: ClaimedJob,
    outcome: Outcome,
    used: { cpuMs: number; peakRssBytes: number } | null = { cpuMs: 250, peakRssBytes: 50 * MB },
  ) => {
    await database.sql(
      `update longshore.running set started_at = clock_timestamp() - interval '4 s' where id = $1`,
      [job.id],
    );
    const transition = decide({ ...job, ...DEFAULT_RULES, state: 'running' }, outcome, 0.5);
    const spent = { ...NO_USAGE, ...used };
    await settle(database.db, 0, [
      { id: job.id, claim: job.claim, was: 'running', transition, usage: spent },
    ]);
  };

  it('counts every attempt that ended, and each job when it ended', async () => {
    await end(await begin('mixed'), SUCCESS);
    await end(await begin('mixed'), failure('NOT_FOUND'), { cpuMs: 1_000, peakRssBytes: 90 * MB });
    await end(await begin('mixed'), failure('TIMEOUT'));
    const held = await enqueueOne(database, { definitionKey: 'mixed', hold: true });
    await cancelJob(database.db, 'default', held);
    const total = await sums('mixed');
    expect(total).toMatchObject({ jobs: 3, attempts: 3, cpuSeconds: 1.5, peakRssBytes: 90 * MB });
    expect(total.runSeconds).toBeGreaterThanOrEqual(12);
    expect(total.runSeconds).toBeLessThan(60);
  });

  it('knows the run time of inline jobs, and nothing else of them', async () => {
    await end(await begin('inline'), SUCCESS, null);
    const total = await sums('inline');
    expect(total).toMatchObject({ jobs: 1, attempts: 1, cpuSeconds: null, peakRssBytes: null });
    expect(total.runSeconds).toBeGreaterThanOrEqual(4);
  });

  it('adds what workers write about plain jobs', async () => {
    const job = await begin('plain');
    const timing = { queue: job.queue, state: 'succeeded', bucket: 3, jobs: 2, ms: 3_000 } as const;
    await writeTimings(database.db, 0, [
      { ...timing, cpuMs: 700, peakRssBytes: 7 * MB },
      { ...timing, bucket: 4, cpuMs: null, peakRssBytes: null },
    ]);
    expect(await sums('plain')).toEqual({
      jobs: 0,
      attempts: 4,
      runSeconds: 6,
      cpuSeconds: 0.7,
      peakRssBytes: 7 * MB,
    });
  });

  it('counts hooks with their definition, but not as jobs', async () => {
    const job = await begin('hooked');
    await publishHooks(database, 'hooked', ['onEnd']);
    await end(job, SUCCESS);
    const [hook] = await claimAny(database, worker, 1);
    if (!hook) throw new Error('no hook');
    await end(hook, SUCCESS, { cpuMs: 50, peakRssBytes: 60 * MB });
    const total = await sums('hooked');
    expect(total).toMatchObject({ jobs: 1, attempts: 2, cpuSeconds: 0.3, peakRssBytes: 60 * MB });
    const { rows } = await usage('groupBy=definition');
    expect(rows.map(({ definitionKey }) => definitionKey)).not.toContain('$hook:hooked');
  });

  it('counts once, though a roll-up is undone or repeated, or two run at a time', async () => {
    await end(await begin('crash'), SUCCESS);
    const crash = inTransaction(database.db, async (tx) => {
      expect((await rollUpCounters(tx, 0, '-infinity', 1_000)).rows).toBeGreaterThan(0);
      throw new Error('killed before the commit');
    });
    await expect(crash).rejects.toThrow('killed before the commit');
    const stored = `select from longshore.usage_day where key = 'crash'`;
    expect(await database.sql(stored)).toEqual([]);
    await Promise.all(Array.from({ length: 4 }, rollUp));
    await rollUp();
    expect(await sums('crash')).toMatchObject({ jobs: 1, attempts: 1, cpuSeconds: 0.25 });
  });

  it('keeps what deleted jobs used, also when they are deleted before the roll-up', async () => {
    await end(await begin('gone'), SUCCESS);
    const remove = async () =>
      await database.sql(`set session_replication_role = replica;
        delete from longshore.done using longshore.queue q where q.queue = done.queue and q.key = 'gone';
        set session_replication_role = default`);
    await remove();
    await rollUp();
    await end(await begin('gone'), SUCCESS);
    await rollUp();
    await remove();
    await database.sql('select longshore.recount_counters(0::smallint)');
    expect(await sums('gone')).toMatchObject({ jobs: 2, attempts: 2, cpuSeconds: 0.5 });
  });

  it('groups by day, tenant and definition', async () => {
    await end(await begin('weekly'), SUCCESS);
    await rollUp();
    await database.sql(`update longshore.usage_day set day = day - 7 where key = 'weekly'`);
    await end(await begin('weekly'), SUCCESS);
    await rollUp();
    const [day] = await database.sql<{ today: string; before: string }>(
      `select (now() at time zone 'UTC')::date::text as today,
         ((now() at time zone 'UTC')::date - 7)::text as before`,
    );
    const { rows } = await usage('groupBy=day,tenant&definitionKey=weekly');
    expect(rows.map((row) => [row.day, row.tenant, row.definitionKey, row.jobs])).toEqual([
      [day?.before, 'default', null, 1],
      [day?.today, 'default', null, 1],
    ]);
    const today = await usage(
      `groupBy=day&groupBy=definition&from=${day?.today}&definitionKey=weekly`,
    );
    expect(today.rows).toMatchObject([{ day: day?.today, definitionKey: 'weekly', tenant: null }]);
    const past = await usage(`groupBy=definition&to=${day?.before}&definitionKey=weekly`);
    expect(past).toMatchObject({ to: day?.before, total: { jobs: 1 } });
    const csv = await callAs(
      app,
      null,
      'GET',
      '/v1/usage?groupBy=day&definitionKey=weekly&format=csv',
    );
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.headers['content-disposition']).toMatch(
      /^attachment; filename="usage-.{10}-.{10}\.csv"$/,
    );
    expect(csv.text.split('\r\n').map((line) => line.split(',')[0])).toEqual([
      'day',
      day?.before,
      day?.today,
      '',
    ]);
  });

  it('forgets days that are past their retention, page by page', async () => {
    await database.sql(
      `insert into longshore.usage_day
       select 0, (now() at time zone 'UTC')::date - n, 'default', 'old', 1, 1, 1, 1, 1
       from generate_series(395, 405) n`,
    );
    const left = async () =>
      (await database.sql(`select from longshore.usage_day where key = 'old'`)).length;
    expect(await pruneUsage(database.db, 400, 2)).toBe(true);
    expect(await left()).toBe(9);
    while (await pruneUsage(database.db, 400, 2));
    expect(await left()).toBe(6);
  });

  it.each([
    ['from=2026-02-30', '/from: must be a day from 1970 on, like 2026-01-31'],
    ['from=2026-02-02&to=2026-02-01', '/from: must not be after to'],
    ['from=1999-01-01&to=2026-01-01', '/from: must be at most 3660 days before to'],
    ['groupBy=dya', 'did you mean \\"day\\"?'],
    ['definitonKey=x', 'did you mean \\"definitionKey\\"?'],
  ])('refuses %s', async (query, message) => {
    const { status, text } = await callAs(app, null, 'GET', `/v1/usage?${query}`);
    expect(status).toBe(400);
    expect(text).toContain(message);
  });

  it('shows a tenant its own usage, and an admin of the default tenant all of it', async () => {
    for (const tenant of ['acme', 'rival']) {
      await newTenant(database, tenant);
      await end(await begin('shared', tenant), SUCCESS);
    }
    await rollUp();
    const { key: acme } = await newKey(database, 'acme', 'jobs:read');
    const { key: boss } = await newKey(database, 'acme', 'admin');
    const { key: reader } = await newKey(database, 'default', 'jobs:read');
    const { key: admin } = await newKey(database, 'default', 'admin');
    const all = 'groupBy=tenant,definition&definitionKey=shared';
    const tenantsOf = ({ rows }: UsageView) => rows.map(({ tenant }) => tenant);
    expect(tenantsOf(await usage(all, acme))).toEqual(['acme']);
    expect(tenantsOf(await usage(all, boss))).toEqual(['acme']);
    expect(tenantsOf(await usage(`${all}&tenant=rival`, admin))).toEqual(['rival']);
    expect(tenantsOf(await usage(`${all}&allTenants=true`, admin))).toEqual(['acme', 'rival']);
    for (const key of [acme, boss, reader]) {
      const { status, code } = await callAs(app, key, 'GET', `/v1/usage?${all}&allTenants=true`);
      expect([status, code]).toEqual([403, 'FORBIDDEN']);
    }
    const both = await callAs(app, admin, 'GET', '/v1/usage?tenant=acme&allTenants=true');
    expect([both.status, both.text]).toEqual([
      400,
      expect.stringContaining('/allTenants: cannot be combined with tenant'),
    ]);
  });
});
