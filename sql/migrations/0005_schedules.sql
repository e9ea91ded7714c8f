-- Schedules, their slots, and who looks after them.
--
-- A schedule lives in the shard of the queue that its jobs wait in, so that a slot and its job are
-- written by one transaction inside one shard. Which slots there are is computed by code from the
-- cron expression (`src/schedule`); the database keeps how far that has come and what became of
-- each slot. What is due is always decided by the database's clock.

-- `next_at` is the first slot that nothing has been decided about. `look_at` is when a scheduler must
-- look at the row again: at that slot, or soon, while a slot is held back by an earlier job (`held_at`).
-- Both are null while the schedule is paused or over. Local times go with instants because several
-- slots may share an instant when clocks go forward. `recent_jobs` are the last jobs it made: whether
-- an earlier one still goes on is asked of these. `new_slots` counts slots since old ones were removed.
create table longshore.schedule (
  shard smallint not null,
  id uuid not null,
  bucket smallint not null check (bucket between 0 and 63),
  tenant text not null,
  name text,
  source text not null check (source in ('api', 'code')),
  definition_key text not null,
  definition_version integer check (definition_version > 0),
  params json not null,
  priority integer not null,
  enabled boolean not null,
  note text,
  cron text not null,
  timezone text not null,
  start_at timestamptz,
  end_at timestamptz,
  jitter_ms integer not null check (jitter_ms >= 0),
  dst_gap text not null check (dst_gap in ('shift', 'skip')),
  dst_repeat text not null check (dst_repeat in ('once', 'twice')),
  catch_up text not null check (catch_up in ('none', 'latest', 'all')),
  catch_up_window_ms bigint not null check (catch_up_window_ms >= 0),
  catch_up_max integer not null check (catch_up_max > 0),
  overlap text not null check (overlap in ('allow', 'skip', 'queue-one')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_enqueued_at timestamptz,
  next_at timestamptz,
  next_local timestamp,
  held_at timestamptz,
  held_local timestamp,
  look_at timestamptz,
  recent_jobs uuid[] not null default '{}',
  new_slots integer not null default 0,
  primary key (id, shard),
  check ((next_at is null) = (next_local is null)),
  check ((held_at is null) = (held_local is null)),
  check (enabled or num_nonnulls(next_at, held_at, look_at) = 0)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- What is due is found without looking at what is not, however many schedules there are.
create index schedule_look on longshore.schedule (shard, bucket, look_at)
  where look_at is not null;
create unique index schedule_name on longshore.schedule (shard, tenant, definition_key, name)
  where name is not null;
create index schedule_tenant on longshore.schedule (shard, tenant, id) where tenant is not null;
create index schedule_crowded on longshore.schedule (shard, new_slots) where new_slots >= 500;

-- What became of each slot. The key makes it impossible to decide about one twice. A row with
-- `through` stands for all slots up to there: after a long absence there may be millions of them.
create table longshore.slot (
  shard smallint not null,
  schedule_id uuid not null,
  slot_at timestamptz not null,
  local timestamp not null,
  status text not null check (status in ('fired', 'skipped', 'collapsed')),
  reason text,
  through timestamptz,
  job_id uuid,
  primary key (shard, schedule_id, slot_at, local),
  check ((status = 'fired') = (job_id is not null)),
  check (status = 'fired' or reason is not null)
);

-- Processes that schedule. Their place among those whose lease is valid says which buckets each one
-- looks after; that only saves work. A handful of rows, written every few seconds each.
create table longshore.scheduler (
  instance uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  lease_until timestamptz not null
) with (fillfactor = 50);

-- What a worker has loaded, as key@version: a job that no living worker has the code for can be told
-- from one that only waits its turn.
alter table longshore.worker add column definitions text[] not null default '{}';
