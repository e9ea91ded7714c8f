import type { Times } from '../../core/alert/latency.ts';
import { emptyCounts } from '../../core/series/histogram.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * The times of definitions for the alerts about latency. They are read from the histograms of the
 * counters: the cost depends on the number of queues whose rule is on, not of jobs.
 */

/** The newest queues count, should there be more. */
const QUEUES_MAX = 5_000;

export interface ListedQueue {
  queue: number;
  tenant: string;
  definitionKey: string;
}

const QUEUES = statement<ListedQueue>(
  'list_measured_queues',
  `select l.queue, l.tenant, l.key as "definitionKey" from longshore.queue l
   where l.shard = $1 and left(l.key, 1) <> '$' order by l.queue desc limit $2`,
);

export async function listQueues(db: Queryable, shard: number): Promise<ListedQueue[]> {
  return await db.run(QUEUES, [shard, QUEUES_MAX]);
}

export interface AskedTimes {
  queue: number;
  seconds: number;
  /** Whether to read the same hours of last week, too. */
  compared: boolean;
}

/** The times of a question: how long jobs waited, and how long attempts ran. */
export interface FoundTimes {
  waited: Counts;
  ran: Counts;
}

/** `Times`, to be filled. */
type Counts = Record<keyof Times, number[]>;

const TIMES = statement<{
  n: number;
  waited: boolean;
  bucket: number;
  now: number;
  then: number;
}>(
  'read_alert_times',
  `with clock as materialized (select clock_timestamp() as at)
   select i.n, s.waited, s.bucket, sum(s.now)::bigint as now, sum(s.then)::bigint as then
   from json_to_recordset($2::json) as i(n int, queue int, seconds float8, compared boolean)
   cross join lateral (
     select s.state = 'running' as waited, s.bucket, s.n as now, 0 as then
     from longshore.counter_span s
     where s.shard = $1 and s.queue = i.queue and s.bucket >= 0
       and s.slot > (select at from clock) - make_interval(secs => i.seconds + 900)
     union all
     select h.waited, h.bucket, 0 as now, h.n as then from longshore.counter_hour h
     where i.compared and h.shard = $1 and h.queue = i.queue
       and h.hour > (select at from clock) - interval '7 days' - make_interval(secs => i.seconds + 3600)
       and h.hour <= (select at from clock) - interval '7 days'
   ) s
   group by i.n, s.waited, s.bucket`,
);

/**
 * The histograms of each question that has any times, by its index. The window begins at a quarter of
 * an hour like the counters, that of last week at an hour.
 */
export async function readTimes(
  db: Queryable,
  shard: number,
  asked: readonly AskedTimes[],
): Promise<Map<number, FoundTimes>> {
  if (asked.length === 0) return new Map();
  const questions = asked.map(({ queue, seconds, compared }, n) => ({
    n,
    queue,
    seconds,
    compared,
  }));
  const rows = await db.run(TIMES, [shard, JSON.stringify(questions)]);
  const empty = (): Counts => ({ now: emptyCounts(), weekAgo: emptyCounts() });
  const found = new Map<number, FoundTimes>();
  for (const { n, waited, bucket, now, then } of rows) {
    const both = found.get(n) ?? { waited: empty(), ran: empty() };
    const times = waited ? both.waited : both.ran;
    times.now[bucket] = now;
    times.weekAgo[bucket] = then;
    found.set(n, both);
  }
  return found;
}
