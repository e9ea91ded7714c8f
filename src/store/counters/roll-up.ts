import { FAILURE_CODES, OTHER_CODE } from '../../core/failure/failure.ts';
import { HOOK_PREFIX } from '../../core/definition/hooks.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { atPlaces, filterOnly, placeOf } from '../connection/planner.ts';

/**
 * Adds up what statements have written about their moves (`store/counters/counter-moves.ts`). A row is deleted and
 * counted by one statement, so it counts once, whoever folds and however often they are killed; one
 * process per shard does it at a time, and the others find nothing to do.
 *
 * It begins at a *floor*, like a claim: deleted rows leave dead entries in the index, and while some
 * forgotten transaction keeps vacuum away, walking over them would take longer each second. What was
 * committed late, below the floor, is found by a look without one now and then.
 */
export interface Fold {
  folded: number;
  /** The latest moment that was counted, as the database wrote it; null when there was none. */
  latest: string | null;
  tookMs: number;
}

/** A job may fail with a code of its own; how many there are must not depend on that. */
const KNOWN_CODES = Object.keys(FAILURE_CODES).join();

const FOLD = statement<Fold>(
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
    select ${placeOf('d')} as place from longshore.counter_delta d
    where d.shard = $1 and d.at > $2::timestamptz and (select mine from held)
    order by d.at limit $3
  ),
  gone as (
    delete from longshore.counter_delta
    where ${atPlaces('select place from picked')} and ${filterOnly('shard = $1')}
    returning *
  ),
  move as materialized (
    select queue, was, state, attempt, bucket, date_trunc('minute', at) as minute,
      case when code is null or code = any ('{${KNOWN_CODES}}') then code else '${OTHER_CODE}' end as code,
      sum(n)::bigint as n, coalesce(sum(ms), 0) as ms
    from gone group by 1, 2, 3, 4, 5, 6, 7
  ),
  ever as (
    insert into longshore.counter as t (shard, queue, was, state, code, attempt, n)
    select $1, queue, was, state, code, attempt, sum(n) from move
    group by queue, was, state, code, attempt
    on conflict (shard, queue, was, state, code, attempt) do update set n = t.n + excluded.n
  ),
  span as (
    insert into longshore.counter_span as t (shard, slot, queue, state, bucket, n, ms)
    select $1, s.slot, m.queue, m.state, coalesce(m.bucket, -1), sum(m.n), sum(m.ms)
    from move m cross join lateral (values
      ('-infinity'::timestamptz),
      (date_bin('15 minutes', m.minute, timestamptz '2000-01-01 00:00:00+00'))
    ) s(slot)
    where m.bucket is not null or m.state in ('succeeded', 'failed', 'cancelled')
    group by 2, 3, 4, 5
    on conflict (shard, queue, slot, state, bucket)
      do update set n = t.n + excluded.n, ms = t.ms + excluded.ms
  ),
  each_minute as (
    insert into longshore.counter_minute as t (shard, tenant, minute, enqueued, started, succeeded,
      failed, cancelled, retried)
    select $1, l.tenant, m.minute, coalesce(sum(m.n) filter (where m.was is null), 0),
      coalesce(sum(m.n) filter (where m.state = 'running'), 0),
      coalesce(sum(m.n) filter (where m.state = 'succeeded'), 0),
      coalesce(sum(m.n) filter (where m.state = 'failed'), 0),
      coalesce(sum(m.n) filter (where m.state = 'cancelled'), 0),
      coalesce(sum(m.n) filter (where m.state = 'retrying'), 0)
    from move m cross join lateral (
      select tenant from longshore.queue
      where shard = $1 and queue = m.queue and left(key, 1) <> '${HOOK_PREFIX[0]}' limit 1
    ) l
    where m.state is not null
    group by 2, 3
    on conflict (shard, tenant, minute) do update
      set enqueued = t.enqueued + excluded.enqueued, started = t.started + excluded.started,
        succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed,
        cancelled = t.cancelled + excluded.cancelled, retried = t.retried + excluded.retried
  )
  select count(*)::int as folded, to_json(max(at)) #>> '{}' as latest,
    (extract(epoch from clock_timestamp() - (select at from clock)) * 1000)::float8 as "tookMs"
  from gone`,
);

export async function rollUpCounters(
  db: Queryable,
  shard: number,
  floor: string,
  limit: number,
): Promise<Fold> {
  const [row] = await db.run(FOLD, [shard, floor, limit]);
  return row ?? { folded: 0, latest: null, tookMs: 0 };
}

const ALL_OF_IT = 10_000;

/** Everything there is to fold, of all shards: where no scheduler keeps it up. */
export async function foldAll(db: Db): Promise<void> {
  for (let shard = 0; shard < db.shards; shard += 1) {
    while ((await rollUpCounters(db, shard, '-infinity', ALL_OF_IT)).folded === ALL_OF_IT);
    await forgetCounters(db, shard);
  }
}

/** What the last day's windows no longer reach. */
const FORGET = statement<{ forgotten: number }>(
  'forget_counters',
  `with over as materialized (select clock_timestamp() - interval '25 hours' as at),
  slots as (
    delete from longshore.counter_span where ${atPlaces(`
      select s.ctid from longshore.queue l cross join lateral (
        select ${placeOf('s')} from longshore.counter_span s
        where s.shard = $1 and s.queue = l.queue and s.slot > '-infinity'
          and s.slot < (select at from over)
      ) s
      where l.shard = $1`)}
    returning 1
  ),
  minutes as (
    delete from longshore.counter_minute where shard = $1 and minute < (select at from over)
    returning 1
  )
  select ((select count(*) from slots) + (select count(*) from minutes))::int as forgotten`,
);

export async function forgetCounters(db: Queryable, shard: number): Promise<number> {
  const [row] = await db.run(FORGET, [shard]);
  return row?.forgotten ?? 0;
}

const RECOUNT = statement<{ wrong: number }>(
  'recount_counters',
  'select longshore.recount_counters($1) as wrong',
);

/** After jobs have left without a word, by the partition. Answers by how many the counters was wrong. */
export async function recountCounters(db: Queryable, shard: number): Promise<number> {
  const [row] = await db.run(RECOUNT, [shard]);
  return row?.wrong ?? 0;
}
