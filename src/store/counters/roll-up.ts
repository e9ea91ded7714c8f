import { FAILURE_CODES, OTHER_CODE } from '../../core/failure/failure.ts';
import { STEPS, TOTAL_KEY } from '../../core/series/series-plan.ts';
import { HOOK_PREFIX } from '../../core/definition/hooks.ts';
import { piece } from '../connection/backend.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { USAGE_OF_MOVES } from './roll-up-usage.ts';
import { atCtids, filterOnly, ctidOf } from '../connection/planner.ts';

/**
 * Adds up the rows of `store/counters/counter-moves.ts`. One statement deletes and adds a row, so it counts
 * once, even if a process is killed. One process per shard does it at a time.
 *
 * It starts at a *floor*, like a claim: deleted rows leave dead index entries, and while an open
 * transaction prevents vacuum, reading them takes longer each second. A read without a floor now and then
 * finds the rows that were committed late.
 */
export interface RolledUp {
  rows: number;
  /** The latest time that was added, as PostgreSQL prints it; null when there was none. */
  latest: string | null;
  tookMs: number;
}

/** Codes of user code are counted as one, so that their number stays bounded. */
const KNOWN_CODES = Object.keys(FAILURE_CODES).join();

/** The slots of a minute in each of the three steps of `counter_series`. */
const SERIES_SLOTS = STEPS.map(({ minutes }) =>
  minutes === 1
    ? '(1::smallint, c.minute)'
    : `(${minutes}, date_bin('${minutes} minutes', c.minute, timestamptz '2000-01-01 00:00:00+00'))`,
).join(', ');

/** The sum of two histograms. In the statement it is faster than as a function. */
const ADDED = (column: 'waited' | 'ran') =>
  `case when excluded.${column} = '{}' then t.${column} when t.${column} = '{}' then excluded.${column}
          else (select jsonb_object_agg(b.key, b.n) from (
            select e.key, sum(e.value::int) as n from (
              select * from jsonb_each_text(t.${column})
              union all select * from jsonb_each_text(excluded.${column})
            ) e group by e.key
          ) b) end`;

const ROLL_UP = statement<RolledUp>(
  'roll_up_counters',
  `with clock as materialized (select clock_timestamp() as at),
  held as materialized (
    select pg_try_advisory_xact_lock(hashtext('longshore.roll_up_counters'), $1) as mine
  ),
  noted as (
    insert into longshore.counter_rollup (shard, at)
    select $1, at from clock where (select mine from held)
    on conflict (shard) do update set at = excluded.at
  ),
  picked as materialized (
    select ${ctidOf('d', 'at')} as row_ctid from longshore.counter_delta d
    where d.shard = $1 and d.at > $2::timestamptz and (select mine from held)
    order by d.at limit $3
  ),
  gone as (
    delete from longshore.counter_delta
    where ${atCtids('select row_ctid from picked', '', 'at')} and ${filterOnly('shard = $1')}
    returning *
  ),
  move as materialized (
    select queue, was, state, attempt, bucket, date_trunc('minute', at) as minute,
      case when code is null or code = any ('{${KNOWN_CODES}}') then code else '${OTHER_CODE}' end as code,
      sum(n)::bigint as n, sum(timed)::bigint as timed, coalesce(sum(ms), 0) as ms,
      sum(cpu_ms)::bigint as cpu_ms, max(peak_rss_bytes) as peak_rss_bytes
    from gone group by 1, 2, 3, 4, 5, 6, 7
  ),
  ever as (
    insert into longshore.counter as t (shard, queue, was, state, code, attempt, n)
    select $1, queue, was, state, code, attempt, sum(n) from move
    where n <> 0
    group by queue, was, state, code, attempt
    on conflict (shard, queue, was, state, code, attempt) do update set n = t.n + excluded.n
  ),
  span as (
    insert into longshore.counter_span as t (shard, slot, queue, state, bucket, n, ms)
    select $1, s.slot, m.queue, m.state, coalesce(m.bucket, -1), sum(m.timed), sum(m.ms)
    from move m cross join lateral (values
      ('-infinity'::timestamptz),
      (date_bin('15 minutes', m.minute, timestamptz '2000-01-01 00:00:00+00'))
    ) s(slot)
    where m.timed > 0
    group by 2, 3, 4, 5
    on conflict (shard, queue, slot, state, bucket)
      do update set n = t.n + excluded.n, ms = t.ms + excluded.ms
  ),
  -- Arrivals: the moves to queued, per minute, in bucket -1 of that state. A job that its worker
  -- returned has arrived before; a job that changed its version is taken from the old queue.
  arrival as (
    insert into longshore.counter_span as t (shard, slot, queue, state, bucket, n, ms)
    select $1, m.minute, m.queue, 'queued', -1, sum(m.n), 0
    from move m where m.state = 'queued' and m.was is distinct from 'running' and m.n <> 0
    group by m.minute, m.queue
    on conflict (shard, queue, slot, state, bucket) do update set n = t.n + excluded.n
  ),
  ${USAGE_OF_MOVES},
  -- By bucket, then without: the counts of buckets become one value.
  charted as (
    select l.tenant, l.key, m.minute, m.bucket, m.state = 'running' as waited,
      sum(m.timed)::int as timed,
      coalesce(sum(m.n) filter (where m.was is null and m.state is not null), 0) as enqueued,
      coalesce(sum(m.n) filter (where m.state = 'running'), 0) as started,
      coalesce(sum(m.n) filter (where m.state = 'succeeded'), 0) as succeeded,
      coalesce(sum(m.n) filter (where m.state = 'failed'), 0) as failed,
      coalesce(sum(m.n) filter (where m.state = 'cancelled'), 0) as cancelled,
      coalesce(sum(m.n) filter (where m.state = 'retrying'), 0) as retried,
      coalesce(sum(m.n) filter (where m.state = 'queued'), 0)
        - coalesce(sum(m.n) filter (where m.was = 'queued'), 0) as deeper
    from move m cross join lateral (
      select tenant, key from longshore.queue
      where shard = $1 and queue = m.queue and left(key, 1) <> '${HOOK_PREFIX[0]}' limit 1
    ) l
    group by 1, 2, 3, 4, 5
  ),
  slotted as (
    select c.tenant, k.key, g.minutes, g.slot, c.bucket, c.waited, sum(c.timed)::int as timed,
      sum(c.enqueued) as enqueued, sum(c.started) as started, sum(c.succeeded) as succeeded,
      sum(c.failed) as failed, sum(c.cancelled) as cancelled, sum(c.retried) as retried,
      sum(c.deeper) as deeper
    from charted c cross join lateral (values (c.key), ('')) k(key)
    cross join lateral (values ${SERIES_SLOTS}) g(minutes, slot)
    group by 1, 2, 3, 4, 5, 6
  ),
  series as (
    insert into longshore.counter_series as t (shard, minutes, tenant, key, slot, enqueued, started,
      succeeded, failed, cancelled, retried, deeper, waited, ran)
    select $1, minutes, tenant, key, slot, sum(enqueued), sum(started), sum(succeeded), sum(failed),
      sum(cancelled), sum(retried), sum(deeper),
      coalesce(jsonb_object_agg(bucket, timed) filter (where waited and bucket >= 0 and timed > 0), '{}'),
      coalesce(jsonb_object_agg(bucket, timed) filter (where not waited and bucket >= 0 and timed > 0), '{}')
    from slotted
    group by minutes, tenant, key, slot
    on conflict (shard, tenant, key, minutes, slot) do update
      set enqueued = t.enqueued + excluded.enqueued, started = t.started + excluded.started,
        succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed,
        cancelled = t.cancelled + excluded.cancelled, retried = t.retried + excluded.retried,
        deeper = t.deeper + excluded.deeper, waited = ${ADDED('waited')}, ran = ${ADDED('ran')}
  )
  select count(*)::int as rows, to_json(max(at)) #>> '{}' as latest,
    (extract(epoch from clock_timestamp() - (select at from clock)) * 1000)::float8 as "tookMs"
  from gone`,
);

export async function rollUpCounters(
  db: Queryable,
  shard: number,
  floor: string,
  limit: number,
): Promise<RolledUp> {
  const [row] = await db.run(ROLL_UP, [shard, floor, limit]);
  return row ?? { rows: 0, latest: null, tookMs: 0 };
}

const DELTA = statement<{ at: Date }>(
  'first_delta',
  'select at from longshore.counter_delta where shard = $1 and at > $2::timestamptz order by at limit 1',
);

/** Whether there is something to roll up above the floor. A roll-up writes even if there is not. */
export async function hasDeltas(db: Queryable, shard: number, floor: string): Promise<boolean> {
  return (await db.run(DELTA, [shard, floor])).length > 0;
}

const ALL_OF_IT = 10_000;

/** Rolls up everything, of all shards, where no scheduler does. */
export async function rollUpAll(db: Db): Promise<void> {
  for (let shard = 0; shard < db.shards; shard += 1) {
    while ((await rollUpCounters(db, shard, '-infinity', ALL_OF_IT)).rows >= ALL_OF_IT);
    await forgetCounters(db, shard);
  }
}

/**
 * Deletes what is older than a day, arrivals that are older than an hour, and what no chart shows any
 * more. The times are added to `counter_hour`, which is kept for eight days: alerts compare with them.
 */
const SERIES_KEPT = STEPS.map(
  ({ minutes, keptHours }) => `(${minutes}::smallint, ${keptHours})`,
).join();

const DAY_OVER = "(statement_timestamp() - interval '25 hours')";

const FORGET = statement<{ forgotten: number }>(
  'forget_counters',
  `with over as materialized (select clock_timestamp() - interval '25 hours' as at),
  slots as (
    delete from longshore.counter_span where ${piece(
      atCtids(`
      select s.ctid from longshore.queue l cross join lateral (
        select ${ctidOf('s')} from longshore.counter_span s
        where s.shard = $1 and s.queue = l.queue and s.slot > '-infinity'
          and (s.slot < (select at from over)
            or s.state = 'queued' and s.bucket = -1 and s.slot < (select at from over) + interval '24 hours')
      ) s
      where l.shard = $1`),
      `shard = $1 and slot > '-infinity' and (slot < ${DAY_OVER}
        or state = 'queued' and bucket = -1 and slot < ${DAY_OVER} + interval '24 hours')`,
    )}
    returning queue, slot, state, bucket, n
  ),
  hours as (
    insert into longshore.counter_hour as t (shard, queue, hour, waited, bucket, n)
    select $1, queue, date_bin('1 hour', slot, timestamptz '2000-01-01 00:00:00+00'),
      state = 'running', bucket, sum(n)
    from slots where bucket >= 0 and slot > (select at from over) - interval '7 days'
    group by 2, 3, 4, 5
    on conflict (shard, queue, hour, waited, bucket) do update set n = t.n + excluded.n
  ),
  old_hours as (
    delete from longshore.counter_hour where ${piece(
      atCtids(`
      select h.ctid from longshore.queue l cross join lateral (
        select ${ctidOf('h')} from longshore.counter_hour h
        where h.shard = $1 and h.queue = l.queue
          and h.hour < (select at from over) - interval '7 days'
      ) h
      where l.shard = $1`),
      `shard = $1 and hour < ${DAY_OVER} - interval '7 days'`,
    )}
    returning 1
  ),
  series as (
    delete from longshore.counter_series${piece('', ' as s')} where ${piece(
      atCtids(`
      select s.ctid from (
        select tenant, key from longshore.queue where shard = $1
        union select tenant, '${TOTAL_KEY}' from longshore.queue where shard = $1
      ) l cross join (values ${SERIES_KEPT}) g(minutes, hours)
      cross join lateral (
        select ${ctidOf('s')} from longshore.counter_series s
        where s.shard = $1 and s.tenant = l.tenant and s.key = l.key and s.minutes = g.minutes
          and s.slot < (select at from over) + interval '25 hours' - make_interval(hours => g.hours)
      ) s`),
      `s.shard = $1 and (${STEPS.map(
        ({ minutes, keptHours }) =>
          `s.minutes = ${minutes} and s.slot < statement_timestamp() - interval '${keptHours} hours'`,
      ).join(' or ')})`,
    )}
    returning 1
  )
  select ((select count(*) from slots) + (select count(*) from series)
    + (select count(*) from old_hours))::int as forgotten`,
);

export async function forgetCounters(db: Queryable, shard: number): Promise<number> {
  const [row] = await db.run(FORGET, [shard]);
  return row?.forgotten ?? 0;
}

const RECOUNT = statement<{ wrong: number }>(
  'recount_counters',
  'select longshore.recount_counters($1) as wrong',
);

/** Call it after partitions were dropped. Returns by how many jobs the counters were wrong. */
export async function recountCounters(db: Queryable, shard: number): Promise<number> {
  const [row] = await db.run(RECOUNT, [shard]);
  return row?.wrong ?? 0;
}
