import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../harness/bench.ts';
import { percentile } from '../harness/numbers.ts';
import { cpuSecondsOf } from '../servers/processes.ts';
import type { Workload } from './workload.ts';

/** So many are due each second; all others rest until tomorrow. */
const BUSY = 100;

export const schedules: Workload = {
  name: 'schedules',
  what:
    `A real \`longshore start\` with ${BUSY} schedules that are due every second, alone and beside ` +
    '100,000 that are not. How late each slot becomes a job, and the CPU that its process takes.',
  systems: ['longshore'],
  ownTables: true,
  metrics: [
    { key: 'alone-p50', unit: 'ms', better: 'less' },
    { key: 'p50', unit: 'ms', better: 'less' },
    { key: 'alone-p99', unit: 'ms', better: 'less' },
    { key: 'p99', unit: 'ms', better: 'less' },
    { key: 'alone-cpu', unit: 'ms/s', better: 'less' },
    { key: 'cpu', unit: 'ms/s', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 70, quick: 30 },
  async measure(bench, system) {
    const alone = await fire(bench, system, 0);
    const beside = await fire(bench, system, bench.size(100_000, 20_000));
    return {
      'alone-p50': percentile(alone.late, 0.5),
      p50: percentile(beside.late, 0.5),
      'alone-p99': percentile(alone.late, 0.99),
      p99: percentile(beside.late, 0.99),
      'alone-cpu': alone.cpuMs,
      cpu: beside.cpuMs,
    };
  },
};

async function fire(
  bench: Bench,
  system: string,
  resting: number,
): Promise<{ late: number[]; cpuMs: number }> {
  await using database = await bench.database(system);
  await database.client.query(SCHEDULES, [BUSY, resting]);
  await database.client.query('vacuum analyze longshore.schedule');
  const definitions = bench.checkout(system).definitionFile('process.ts');
  await using server = await bench.server(system, 'start', database.url, ['--jobs', definitions]);
  // Warm-up: plans are made, queues and partitions are found.
  await sleep(3_000);
  await database.client.query('truncate longshore.slot');
  const [before, seconds] = [cpuSecondsOf(server.pid), bench.size(20, 5)];
  await sleep(seconds * 1_000);
  const cpuMs = (cpuSecondsOf(server.pid) - before) * (1_000 / seconds);
  const { rows } = await database.client.query<{ late_ms: number }>(
    `select (extract(epoch from j.created_at - j.scheduled_for) * 1000)::float8 as late_ms
     from longshore.job j join longshore.slot t on t.job_id = j.id`,
  );
  if (rows.length < BUSY * (seconds - 2)) throw new Error('slots did not fire');
  return { late: rows.map((row) => row.late_ms), cpuMs };
}

const SCHEDULES = `
  insert into longshore.schedule (shard, id, bucket, tenant, source, definition_key, params, priority,
    enabled, cron, timezone, jitter_ms, dst_gap, dst_repeat, catch_up, catch_up_window_ms,
    catch_up_max, overlap, created_at, updated_at, next_at, next_local, check_at)
  select 0, gen_random_uuid(), n % 64, 'default', 'api', 'unserved', '{}', 0, true,
    case when n <= $1 then '* * * * * *' else '0 0 * * *' end, 'UTC', 0, 'shift', 'once', 'all',
    604800000, 1000, 'allow', now(), now(), at.next, at.next at time zone 'UTC', at.next
  from generate_series(1, $1::int + $2::int) n
  cross join lateral (
    select case when n <= $1 then date_trunc('second', now()) + interval '1 second'
      else date_trunc('day', now(), 'UTC') + interval '1 day' end as next
  ) at`;
