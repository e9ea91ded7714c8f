import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SeriesView } from '../../../src/core/series/series.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { forgetCounters, rollUpCounters } from '../../../src/store/counters/roll-up.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { callAs, newKey, newTenant, serverOn } from '../../support/server-edge.ts';
import {
  postgresVersions,
  testDatabase,
  type TestDatabase,
} from '../../support/servers/database.ts';

describe.each(postgresVersions())('GET /v1/series on PostgreSQL %i', (postgres) => {
  let database: TestDatabase;
  let app: FastifyInstance;

  beforeAll(async () => {
    database = await testDatabase({ shards: 2, postgres });
    app = serverOn(database);
  });
  afterAll(async () => {
    await app.close();
    await database.close();
  });

  const rollUp = async () => {
    for (const shard of [0, 1]) {
      while ((await rollUpCounters(database.db, shard, '-infinity', 1_000)).rows > 0);
    }
  };
  const series = async (query: string, key: string | null = null): Promise<SeriesView> => {
    await rollUp();
    const { status, body } = await callAs(app, key, 'GET', `/v1/series?${query}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    return body as unknown as SeriesView;
  };
  const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);

  /** Everything that is stored happened so much earlier. */
  const earlier = async (interval: string) => {
    await rollUp();
    await database.sql(
      `update longshore.counter_series set slot = date_bin(
         make_interval(mins => minutes), slot - $1::interval, timestamptz '2000-01-01 00:00:00+00')`,
      [interval],
    );
  };

  it('has the same peak in a longer range', async () => {
    await newTenant(database, 'peaks');
    const slots = [
      [1, '30 minutes', 40],
      [1, '28 minutes', -40],
      [15, '30 minutes', 0],
      [60, '30 minutes', 0],
    ];
    for (const [minutes, before, deeper] of slots) {
      await database.sql(
        `insert into longshore.counter_series (shard, minutes, tenant, key, slot, deeper,
           enqueued, started, succeeded, failed, cancelled, retried, waited, ran)
         values (0, $1::smallint, 'peaks', '', date_bin(make_interval(mins => $1::smallint::int),
           clock_timestamp() - $2::interval, timestamptz '2000-01-01 00:00:00+00'), $3,
           0, 0, 0, 0, 0, 0, '{}', '{}')`,
        [minutes, before, deeper],
      );
    }
    const peaks = [60, 360, 1_440, 7 * 1_440, 30 * 1_440].map(
      async (minutes) => (await series(`minutes=${minutes}&tenant=peaks`)).whole.depthMax,
    );
    expect(await Promise.all(peaks)).toEqual([40, 40, 40, 40, 40]);
    await database.sql(`delete from longshore.counter_series where tenant = 'peaks'`);
  });

  it('counts what happened to a definition, and to all', async () => {
    for (const definitionKey of ['mail', 'report', 'video']) {
      for (let n = 0; n < 6; n += 1) await enqueueOne(database, { definitionKey });
    }
    const held = await enqueueOne(database, { definitionKey: 'mail', hold: true });
    await cancelJob(database.db, 'default', held);
    const worker = await newWorker(database);
    const jobs = await claimAny(database, worker, 3);
    expect(jobs).toHaveLength(3);
    const [good, bad, retried] = jobs;
    if (!good || !bad || !retried) throw new Error('not claimed');
    await settleAs(database, good, SUCCESS);
    await settleAs(database, bad, failure('NOT_FOUND'));
    await settleAs(database, retried, failure('TIMEOUT'));
    const all = await series('minutes=15');
    expect(all).toMatchObject({ definitionKey: null, stepMs: 60_000 });
    expect(all.enqueued.length).toBeGreaterThanOrEqual(15);
    const total = ({
      enqueued,
      started,
      succeeded,
      failed,
      cancelled,
      retried: again,
    }: SeriesView) => [enqueued, started, succeeded, failed, cancelled, again].map(sum);
    expect(total(all)).toEqual([19, 3, 1, 1, 1, 1]);
    expect(all.depth.at(-1)).toBe(15);
    expect(all.depth[0]).toBe(0);
    expect(all.runMs.p50.filter((ms) => ms !== null).length).toBeGreaterThan(0);
    const parts = await Promise.all(
      ['mail', 'report', 'video'].map(async (key) => await series(`definitionKey=${key}`)),
    );
    expect(sum(parts.map(({ enqueued }) => sum(enqueued)))).toBe(19);
    expect(sum(parts.map(({ depth }) => depth.at(-1) ?? 0))).toBe(15);
    expect(sum((await series('definitionKey=unknown')).enqueued)).toBe(0);
  });

  it('has the same in minutes, quarters and hours', async () => {
    for (const minutes of [60, 360, 1_440, 10_080, 43_200]) {
      const { stepMs, depth, succeeded, histograms } = await series(
        `minutes=${minutes}&histograms=true`,
      );
      expect(depth.length, String(stepMs)).toBeLessThanOrEqual(121);
      expect([depth.at(-1), sum(succeeded)]).toEqual([15, 1]);
      expect(sum(histograms?.wait.counts.flat() ?? [])).toBe(3);
      expect(sum(histograms?.run.counts.flat() ?? [])).toBe(3);
    }
  });

  it('knows how deep the queue was', async () => {
    await earlier('2 hours');
    const worker = await newWorker(database);
    const jobs = await claimAny(database, worker, 3);
    expect(jobs).toHaveLength(3);
    const { depth } = await series('minutes=360');
    expect(Math.max(...depth)).toBe(15);
    expect([depth[0], depth.at(-1)]).toEqual([0, 12]);
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    const past = await series(`minutes=30&to=${hourAgo}`);
    expect(new Set(past.depth)).toEqual(new Set([15]));
    for (const job of jobs) await settleAs(database, job, SUCCESS);
  });

  it('forgets minutes after a day, quarters after a week and hours after a month', async () => {
    const steps = async () => {
      for (const shard of [0, 1]) await forgetCounters(database.db, shard);
      const rows = await database.sql<{ minutes: number }>(
        'select distinct minutes from longshore.counter_series order by 1',
      );
      return rows.map(({ minutes }) => minutes);
    };
    expect(await steps()).toEqual([1, 15, 60]);
    await earlier('26 hours');
    expect(await steps()).toEqual([15, 60]);
    expect(sum((await series('minutes=10080')).succeeded)).toBe(4);
    await earlier('8 days');
    expect(await steps()).toEqual([60]);
    expect(sum((await series('minutes=43200')).succeeded)).toBe(4);
    await earlier('30 days');
    expect(await steps()).toEqual([]);
  });

  it('is about the tenant of the caller, and refuses what it does not know', async () => {
    await newTenant(database, 'acme');
    const { key } = await newKey(database, 'acme', 'jobs:read');
    await enqueueOne(database, { definitionKey: 'mail' });
    expect((await series('minutes=15', key)).depth.at(-1)).toBe(0);
    await enqueueOne(database, { tenant: 'acme', definitionKey: 'mail' });
    await enqueueOne(database, { tenant: 'acme', definitionKey: 'mail' });
    expect((await series('definitionKey=mail', key)).depth.at(-1)).toBe(2);
    for (const query of [
      'minutes=0',
      'minutes=60&from=2026-01-01T00:00:00Z',
      'from=2020-01-01T00:00:00Z',
      `to=${new Date(Date.now() - 40 * 86_400_000).toISOString()}`,
      'range=1h',
      'histograms=yes',
      'definitionKey=$hook:mail',
    ]) {
      const { status, body } = await callAs(app, key, 'GET', `/v1/series?${query}`);
      expect([query, status, body['code']]).toEqual([query, 400, 'VALIDATION_FAILED']);
    }
  });
});
