-- The tables of Longshore. Four ideas carry them:
--
-- 1. A job's body (params, tags, policy) is written once, into `job`, and never moved. What moves is
--    one narrow row: waiting -> running -> done. A job lives in exactly one of the three.
-- 2. Every key has the `shard` in it and every statement names one shard, so that the same SQL runs
--    on distributed PostgreSQL. Tables without one are small and written by people, not by jobs.
-- 3. Ids are time-ordered, and what grows with history is partitioned by id, so that retention drops
--    everything about old jobs together instead of deleting it row by row.
-- 4. The planner has no good way to be wrong. While a table has no statistics, or those of an empty
--    queue, all ways cost the same to it. So every secondary index is partial, if only by `where x
--    is not null`: it can serve no question that does not name x. And where rows are matched by
--    `id = any (…)`, the key begins with the id: PostgreSQL 15 and 16 take an array on a later
--    column for a filter and read the whole index. test/integration/store/statements.test.ts holds this.

create type longshore.job_state as enum (
  'created', 'scheduled', 'queued', 'running', 'retrying', 'cancelling',
  'succeeded', 'failed', 'cancelled'
);

-- Facts fixed at the first migration, such as the number of shards.
create table longshore.setting (
  name text primary key,
  value jsonb not null
);

-- What workers can run, as they published it. The newest publisher wins.
create table longshore.definition (
  key text not null,
  version integer not null check (version > 0),
  info jsonb not null,
  published_at timestamptz not null default clock_timestamp(),
  primary key (key, version)
);

-- A queue is the queue of one definition version of one tenant. Rarely written, cached everywhere.
-- definition_limiter and tenant_limiter name the limiters of its definition's and its tenant's limits, when they have any.
create table longshore.queue (
  shard smallint not null,
  queue integer not null,
  tenant text not null,
  key text not null,
  version integer not null,
  definition_limiter integer,
  tenant_limiter integer,
  paused_at timestamptz,
  paused_by text,
  paused_why text,
  primary key (shard, queue)
);
create unique index queue_name on longshore.queue (shard, key, version, tenant)
  where key is not null;

-- The body: each job once, in every state.
create table longshore.job (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  params json not null,
  tags text[],
  idempotency_key text,
  concurrency_key text,
  policy jsonb,
  schedule_id uuid,
  scheduled_for timestamptz,
  traceparent text,
  created_at timestamptz not null,
  primary key (shard, id)
) partition by range (id);
create index job_queue on longshore.job (shard, queue, id) where queue is not null;
create index job_tags on longshore.job using gin (tags) where tags is not null;

-- Not owned by anybody. The index `waiting_line` holds what can be claimed now and nothing else:
-- rank is minus the priority, seq the place in the line. A queued job whose concurrency key has no
-- token is blocked instead, outside that index.
create table longshore.waiting (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state longshore.job_state not null,
  rank integer not null,
  seq bigint,
  blocked bigint,
  key_limiter integer,
  run_at timestamptz,
  expires_at timestamptz,
  attempts integer not null default 0,
  max_attempts integer not null,
  claim_no integer not null default 0,
  interruptions integer not null default 0,
  queued_at timestamptz,
  primary key (id, shard),
  check (state in ('created', 'scheduled', 'queued', 'retrying')),
  check ((state = 'queued') = (num_nonnulls(seq, blocked) = 1)),
  check (state not in ('scheduled', 'retrying') or run_at is not null),
  check (state <> 'queued' or queued_at is not null),
  check (attempts >= 0 and max_attempts > 0 and claim_no >= 0 and interruptions >= 0)
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index waiting_line on longshore.waiting (shard, queue, rank, seq) where seq is not null;
create index waiting_due on longshore.waiting (shard, run_at)
  where state in ('scheduled', 'retrying');
create index waiting_expiry on longshore.waiting (shard, expires_at) where expires_at is not null;
create index waiting_blocked on longshore.waiting (shard, key_limiter, rank, blocked)
  where blocked is not null;

-- Owned by one claim of one worker instance. claim_no is the fence: every write of a worker names it.
create table longshore.running (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state longshore.job_state not null,
  rank integer not null,
  key_limiter integer,
  expires_at timestamptz,
  attempts integer not null,
  max_attempts integer not null,
  claim_no integer not null,
  interruptions integer not null,
  queued_at timestamptz not null,
  worker uuid not null,
  started_at timestamptz not null,
  cancel_requested_at timestamptz,
  progress_fraction real,
  progress_message text,
  primary key (id, shard),
  check (state in ('running', 'cancelling')),
  check ((state = 'cancelling') = (cancel_requested_at is not null)),
  check (attempts > 0 and claim_no > 0)
) with (fillfactor = 70, vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index running_worker on longshore.running (shard, worker) where worker is not null;

-- Ended. The primary key makes a second outcome impossible, and claim_no tells a worker that sends
-- its finish again that this outcome is already its own.
create table longshore.done (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state longshore.job_state not null,
  rank integer not null,
  attempts integer not null,
  max_attempts integer not null,
  claim_no integer not null,
  interruptions integer not null,
  queued_at timestamptz,
  worker uuid,
  started_at timestamptz,
  cancel_requested_at timestamptz,
  finished_at timestamptz not null,
  progress_fraction real,
  progress_message text,
  pid integer,
  exit_code integer,
  signal text,
  peak_rss_bytes bigint,
  cpu_ms integer,
  error_code text,
  fingerprint text,
  error json,
  result json,
  primary key (shard, id),
  check (state in ('succeeded', 'failed', 'cancelled')),
  check (state <> 'failed' or (error_code is not null and error is not null)),
  check (state <> 'cancelled' or cancel_requested_at is not null),
  check (state <> 'succeeded' or result is not null)
) partition by range (id);
create index done_failed on longshore.done (shard, queue, error_code, id) where state = 'failed';
create index done_unsuccessful on longshore.done (shard, state, id) where state <> 'succeeded';

-- Attempts that did not end the job well; a plain success is derived from `done`.
create table longshore.attempt (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  number integer not null,
  worker uuid not null,
  pid integer,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  exit_code integer,
  signal text,
  peak_rss_bytes bigint,
  cpu_ms integer,
  error_code text,
  error json,
  primary key (shard, job_id, claim_no)
) partition by range (job_id);

-- Idempotency keys and, later, unique jobs: one mechanism. `until` null means as long as the job is
-- kept: when `job` no longer has the id, the key may be taken over.
create table longshore.dedupe (
  shard smallint not null,
  scope text not null,
  key text not null,
  job_id uuid not null,
  params_sha bytea not null,
  until timestamptz,
  primary key (shard, scope, key)
);

-- A worker instance: a fresh id each start. Its lease is what keeps all its claims valid, so that a
-- heartbeat writes one row here and no job rows. dead_at is set once and never unset. No index has
-- what a heartbeat changes, so it stays inside its page (HOT) and leaves no index entries behind.
create table longshore.worker (
  shard smallint not null,
  instance uuid not null,
  host text not null,
  pid integer not null,
  version text not null,
  slots integer not null,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  lease_until timestamptz not null,
  draining_at timestamptz,
  dead_at timestamptz,
  primary key (shard, instance)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
create index worker_alive on longshore.worker (shard, instance) where dead_at is null;

-- The first id of a moment: how time becomes a boundary between partitions.
create function longshore.id_floor(at timestamptz) returns uuid
language sql immutable strict parallel safe as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid
$$;

-- The same the other way round.
create function longshore.id_time(id uuid) returns timestamptz
language sql immutable strict parallel safe as $$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- What is partitioned, and by which column. A table that is added here later gets its partitions
-- from `ensure_partitions`. Retention copies and locks in this order: body, outcome, the rest.
create function longshore.partitioned_tables() returns table (name text, id_column text)
language sql immutable as $$ values ('job', 'id'), ('done', 'id'), ('attempt', 'job_id') $$;

-- The partitions of a table: what follows its name in theirs, and which ids they hold. The catalog
-- is asked, so that nothing can differ from it. The lower bound of `_old` is null.
create function longshore.partitions(parent text)
returns table (suffix text, lower_id uuid, upper_id uuid) language sql stable as $$
  select substr(c.relname, length(parent) + 1),
    (regexp_match(b.bound, 'FROM \(''([0-9a-f-]{36})''\)'))[1]::uuid,
    (regexp_match(b.bound, 'TO \(''([0-9a-f-]{36})''\)'))[1]::uuid
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
  where i.inhparent = format('longshore.%I', parent)::regclass
$$;

-- Made beside its table and then attached, which does not stop readers and writers.
create function longshore.add_partition(parent text, suffix text, lower_id uuid, upper_id uuid)
returns void language plpgsql as $$
begin
  execute format('create table longshore.%I (like longshore.%I including all)',
    parent || suffix, parent);
  execute format('alter table longshore.%I attach partition longshore.%I
    for values from (%s) to (%L)', parent, parent || suffix,
    coalesce(quote_literal(lower_id), 'minvalue'), upper_id);
end $$;

-- Makes the partitions that ids of today and the next days need. The ranges are without gaps: the
-- first one reaches back for ever, and after a long pause the next one spans it. A day is 24 hours
-- here: what `interval '1 day'` adds depends on the session's time zone, twice a year. How many of
-- them a partition spans follows from the retention (`partition_days`): there are never many.
create function longshore.ensure_partitions(
  days_ahead integer, at timestamptz default clock_timestamp()
) returns integer
language plpgsql as $$
declare
  part record;
  made integer := 0;
  today timestamptz := date_trunc('day', at, 'UTC');
  upper_bound timestamptz;
  next_bound timestamptz;
  width interval;
begin
  perform pg_advisory_xact_lock(hashtext('longshore.ensure_partitions'));
  width := make_interval(hours => 24 * coalesce((
    select (value #>> '{}')::integer from longshore.setting where name = 'partition_days'), 1));
  select longshore.id_time(upper_id) into upper_bound
    from longshore.partitions('job') order by upper_id desc limit 1;
  if upper_bound is null then
    upper_bound := today;
    perform longshore.add_partition('job', '_old', null, longshore.id_floor(today));
  end if;
  while upper_bound < today + make_interval(hours => 24 * (days_ahead + 1)) loop
    next_bound := greatest(upper_bound, today) + width;
    perform longshore.add_partition('job', to_char(upper_bound at time zone 'UTC', '"_p"YYYYMMDD'),
      longshore.id_floor(upper_bound), longshore.id_floor(next_bound));
    upper_bound := next_bound;
    made := made + 1;
  end loop;
  for part in
    select t.name, p.* from longshore.partitioned_tables() t, longshore.partitions('job') p
    where not exists (select 1 from longshore.partitions(t.name) q where q.suffix = p.suffix)
  loop
    perform longshore.add_partition(part.name, part.suffix, part.lower_id, part.upper_id);
  end loop;
  return made;
end $$;
