import { describe, expect, it } from 'vitest';
import { jobIdFloor, timeOfJobId } from '../../../src/core/job/job-id.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { ensurePartitions } from '../../../src/store/connection/partitions.ts';
import { onCluster, databasePerTest } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, newWorker, request, settleAs, SUCCESS } from '../../support/jobs.ts';
import { enqueueDaysAgo } from '../../support/old-jobs.ts';
import { publishHooks } from '../../support/history.ts';

const DAY_MS = 24 * 3_600_000;
const PARTITIONED = [
  'job',
  'done',
  'attempt',
  'event',
  'log_chunk',
  'step',
  'stream_chunk',
  'edge',
];

const database = databasePerTest();

interface Range {
  name: string;
  fromMs: number;
  toMs: number;
}

/** The partitions of a table in order, with their bounds as times. */
async function rangesOf(table: string): Promise<Range[]> {
  const rows = await database.sql<{ name: string; bound: string }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = ('longshore.' || $1)::regclass`,
    [table],
  );
  const ranges = rows.map(({ name, bound }) => {
    const [from = '', to = ''] = bound.match(/MINVALUE|[0-9a-f-]{36}/g) ?? [];
    return {
      name,
      fromMs: from === 'MINVALUE' ? Number.NEGATIVE_INFINITY : timeOfJobId(from),
      toMs: timeOfJobId(to),
    };
  });
  return ranges.sort((a, b) => a.toMs - b.toMs);
}

/** Every instant up to the last bound has exactly one partition, the same in all tables. */
async function expectNoGaps(): Promise<Range[]> {
  const [job = [], ...others] = await Promise.all(PARTITIONED.map(rangesOf));
  const times = (ranges: Range[]) => ranges.map(({ fromMs, toMs }) => [fromMs, toMs]);
  for (const other of others) expect(times(other)).toEqual(times(job));
  expect(job[0]?.fromMs).toBe(Number.NEGATIVE_INFINITY);
  for (const [index, range] of job.entries()) {
    expect(range.toMs % DAY_MS).toBe(0);
    if (index > 0) expect(range.fromMs).toBe(job[index - 1]?.toMs);
  }
  return job;
}

async function todayMs(): Promise<number> {
  const [row] = await database.sql<{ ms: number }>(
    `select (extract(epoch from date_trunc('day', now(), 'UTC')) * 1000)::float8 as ms`,
  );
  return row?.ms ?? 0;
}

/** Drops the partitions that begin at that time or later, as if they were not created yet. */
async function forgetPartitions(sinceMs: number, untilMs = sinceMs): Promise<void> {
  for (const table of PARTITIONED) {
    for (const { name, fromMs } of await rangesOf(table)) {
      if (fromMs >= sinceMs) await database.sql(`drop table longshore.${name}`);
    }
  }
  await database.sql(
    `update longshore.setting set value = to_jsonb(to_timestamp($1))
     where name = 'partitioned_until'`,
    [untilMs / 1_000],
  );
}

/** As if the server had been off for three weeks: all that it had then ended on that day. */
async function pretendWeeksOff(): Promise<number> {
  const lastDayMs = (await todayMs()) - 21 * DAY_MS;
  await forgetPartitions(Number.NEGATIVE_INFINITY, lastDayMs);
  for (const table of PARTITIONED) {
    await database.sql(`create table longshore.${table}_old partition of longshore.${table}
      for values from (minvalue) to ('${jobIdFloor(lastDayMs)}')`);
  }
  return lastDayMs;
}

describe('partitions', () => {
  it('reach from ever to the end of the seventh day from now, without gaps', async () => {
    await ensurePartitions(database.db);
    const today = await todayMs();
    const ranges = await expectNoGaps();
    expect(ranges.at(-1)?.toMs).toBe(today + 8 * DAY_MS);
    const daily = ranges.filter(({ fromMs }) => fromMs >= today);
    expect(daily.map(({ fromMs }) => fromMs)).toEqual(
      Array.from({ length: 8 }, (_, day) => today + day * DAY_MS),
    );
    for (const { name, fromMs } of daily) {
      expect(name).toBe(`job_p${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`);
    }
  });

  it('are made once, however often they are asked for', async () => {
    await forgetPartitions((await todayMs()) + 2 * DAY_MS);
    expect(await ensurePartitions(database.db)).toBe(6);
    const before = await expectNoGaps();
    expect(await ensurePartitions(database.db)).toBe(0);
    expect(await expectNoGaps()).toEqual(before);
  });

  it('span the gap after weeks off, so that ids of that time still have a place', async () => {
    const lastDayMs = await pretendWeeksOff();
    expect(await ensurePartitions(database.db)).toBe(8);
    const ranges = await expectNoGaps();
    expect(ranges[1]).toMatchObject({ fromMs: lastDayMs, toMs: (await todayMs()) + DAY_MS });
    expect(ranges.at(-1)?.toMs).toBe((await todayMs()) + 8 * DAY_MS);
  });

  it('do not collide when many processes make them at once', async () => {
    await pretendWeeksOff();
    const made = await Promise.all(
      Array.from({ length: 10 }, async () => await ensurePartitions(database.db)),
    );
    expect(made.sort((a, b) => b - a)).toEqual([8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    await expectNoGaps();
  });

  it('begin at midnight UTC, also for a session whose clocks change this week', async () => {
    const today = await todayMs();
    await forgetPartitions(today + DAY_MS);
    const dayOfYear = (ms: number) => (ms - Date.UTC(new Date(ms).getUTCFullYear(), 0, 1)) / DAY_MS;
    const [forward, back] = [today + 3 * DAY_MS, today + 5 * DAY_MS].map(dayOfYear);
    await onCluster(database.url, async (client) => {
      await client.query(`set timezone = 'WINTER0SUMMER,${forward}/0,${back}/0'`);
      await client.query('select longshore.ensure_partitions(7)');
    });
    expect((await expectNoGaps()).at(-1)?.toMs).toBe(today + 8 * DAY_MS);
  });

  it('are made by an enqueue that finds none for today', async () => {
    const worker = await newWorker(database);
    await pretendWeeksOff();
    const id = await enqueueOne(database);
    const [job] = await claimAny(database, worker, 1);
    expect(job?.id).toBe(id);
    if (job) await settleAs(database, job, SUCCESS);
    expect(await database.sql('select state from longshore.done')).toEqual([
      { state: 'succeeded' },
    ]);
    await expectNoGaps();
  });

  it('are made by a cancel whose hook finds none for today', async () => {
    await pretendWeeksOff();
    const id = await enqueueDaysAgo(database, 30, { hold: true });
    await publishHooks(database, 'hello', ['onEnd']);
    expect(await cancelJob(database.db, 'default', id)).toMatchObject({ status: 'cancelled' });
    const hooks = await database.sql('select parent_id from longshore.job where hook is not null');
    expect(hooks).toEqual([{ parent_id: id }]);
    await expectNoGaps();
  });

  it('are made by whichever of many keyed batches comes first', async () => {
    await pretendWeeksOff();
    const batch = ['a', 'b', 'c'].map((idempotencyKey) => request({ idempotencyKey }));
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => await database.enqueuer.start(batch)),
    );
    expect(new Set(answers.flat().map(({ jobId }) => jobId)).size).toBe(3);
    expect(answers.flat().filter(({ created }) => created)).toHaveLength(3);
    await expectNoGaps();
  });
});
