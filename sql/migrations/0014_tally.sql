-- How many jobs there are and what became of them, without ever counting them. Every statement that
-- moves jobs writes here what it moved, grouped by queue and kind of move, in the same commit: so the
-- sum of all rows is right at every moment. Rows are only added, hence nobody waits for a counter that
-- somebody else holds. A scheduler adds them to the tables below each second and deletes them
-- (store/counters/roll-up.ts).
--
-- `was` is null when a job is made, `state` when one is removed. `ms` is how long the jobs had waited
-- before they began, or had run before they stopped; `bucket` says between which edges each of them
-- was (core/views/histogram.ts).
create table longshore.counter_delta (
  at timestamptz not null default clock_timestamp(),
  ms float8,
  queue integer not null,
  n integer not null,
  was longshore.job_state,
  state longshore.job_state,
  shard smallint not null,
  attempt smallint,
  bucket smallint,
  code text
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0,
  vacuum_truncate = off
);
create index counter_delta_at on longshore.counter_delta (shard, at);

-- When that was last done.
create table longshore.counter_rollup (
  shard smallint primary key,
  at timestamptz not null
) with (fillfactor = 50);

-- All moves of a queue since the beginning. What is there now, by state, is what came minus what left.
create table longshore.counter (
  shard smallint not null,
  queue integer not null,
  was longshore.job_state,
  state longshore.job_state,
  code text,
  attempt smallint,
  n bigint not null
) with (fillfactor = 50);
create unique index counter_move on longshore.counter (shard, queue, was, state, code, attempt)
  nulls not distinct;

-- How long jobs waited (`state` is running) or ran (any other), by bucket; -1 if one ended without
-- having run. For slots of a quarter of an hour, kept for a day, and for ever: that slot is -infinity.
create table longshore.counter_span (
  shard smallint not null,
  queue integer not null,
  slot timestamptz not null,
  state longshore.job_state not null,
  bucket smallint not null,
  n bigint not null,
  ms float8 not null,
  primary key (shard, queue, slot, state, bucket)
) with (fillfactor = 50);

-- What happened to the jobs of a tenant in each minute of the last day.
create table longshore.counter_minute (
  shard smallint not null,
  tenant text not null,
  minute timestamptz not null,
  enqueued integer not null,
  started integer not null,
  succeeded integer not null,
  failed integer not null,
  cancelled integer not null,
  retried integer not null,
  primary key (shard, tenant, minute)
) with (fillfactor = 50);

-- Makes the counters say what is there, and answers by how many jobs it was wrong. One statement has one
-- snapshot, in which jobs and counters belong together, so this is exact whatever goes on meanwhile. The
-- difference is written as jobs that were removed. Whoever drops jobs by the partition calls it, and
-- the database that is older than its counters. Reads all jobs; two at once would both mend the same.
create function longshore.recount_counters(of_shard smallint) returns bigint
language plpgsql
set enable_seqscan = on
set plan_cache_mode = force_custom_plan as $$
declare
  wrong bigint;
begin
  perform pg_advisory_xact_lock(hashtext('longshore.recount_counters'), of_shard);
  with told as (
    select queue, state, n from longshore.counter where shard = of_shard and state is not null
    union all
    select queue, was, -n from longshore.counter where shard = of_shard and was is not null
    union all
    select queue, state, n from longshore.counter_delta where shard = of_shard and state is not null
    union all
    select queue, was, -n from longshore.counter_delta where shard = of_shard and was is not null
    union all
    select queue, state, -count(*) from longshore.waiting where shard = of_shard group by queue, state
    union all
    select queue, state, -count(*) from longshore.running where shard = of_shard group by queue, state
    union all
    select queue, state, -count(*) from longshore.done where shard = of_shard group by queue, state
  ),
  mended as (
    insert into longshore.counter_delta (shard, queue, was, n)
    select of_shard, queue, state, sum(n) from told group by queue, state having sum(n) <> 0
    returning n
  )
  select coalesce(sum(abs(n)), 0) into wrong from mended;
  return wrong;
end $$;

insert into longshore.counter_delta (shard, queue, was, n)
select shard, queue, state, -count(*) from (
  select shard, queue, state from longshore.waiting
  union all select shard, queue, state from longshore.running
  union all select shard, queue, state from longshore.done
) jobs
group by shard, queue, state;
