-- The whole schema of Longshore. The sections, in this order:
--
--    1. queues and jobs             7. schedules
--    2. attempts and history        8. webhooks
--    3. workers                     9. counters and alerts
--    4. limits and pauses          10. access
--    5. unique keys, idempotency   11. partitions and retention
--    6. bulk operations            12. enqueueing by SQL
--                                  13. deployments
--                                  14. secrets
--                                  15. rounds of few jobs
--
-- Four rules hold for all tables:
--
-- 1. The body of a job (params, tags, policy) is written once, into `job`. What changes is one narrow
--    row, which moves from `waiting` to `running` to `done`. A job is in exactly one of these three.
-- 2. Every key contains the `shard` and every statement names one shard, so the same SQL runs on
--    distributed PostgreSQL. Tables without a shard are small: operators write them, not jobs.
-- 3. Ids are ordered by time. Tables that grow with the number of jobs are partitioned by id, so
--    retention drops whole partitions instead of deleting row by row.
-- 4. No query has a bad plan to choose. A table without statistics, or with those of an empty queue,
--    makes all plans look equally cheap. So every secondary index is partial, if only by `where x is
--    not null`: it can only serve queries that name x. And where rows are matched by `id = any (…)`,
--    the key begins with the id: PostgreSQL 15 and 16 use an array on a later column as a filter and
--    read the whole index. test/integration/store/statements.test.ts checks the plans.
--
-- The types of queries' rows are compared with their TypeScript types by a test; `sql/schema.sql` is
-- what this file (and all later ones) add up to, printed by `npm run schema`.


-- ===========================================================================================
-- 1. Queues and jobs
-- ===========================================================================================

create type longshore.job_state as enum (
  'created', 'scheduled', 'queued', 'running', 'retrying', 'suspended', 'cancelling',
  'succeeded', 'failed', 'cancelled'
);

-- One row per fact that is fixed for a database, such as `shards`, which the first migration writes,
-- or `partition_days` and `idempotency_days`, which follow from the configured retention.
create table longshore.setting (
  name text primary key,
  value jsonb not null
);

-- One row per version of a job definition, written by workers when they start, or by a deployment
-- (section 13), whose number is the version. `info` is what the API shows of it (src/core/definition).
-- Of workers, the one that publishes last wins; what a deployment wrote never changes. Definitions of
-- the tenant `default` are for all tenants, others for their own tenant only. `params_schema` repeats the
-- schema of `info` with its fields in the order of the code, which jsonb does not keep: a form shows it.
-- `codes` are the hashes of the code that workers started with, newest first, each with its time:
-- other code moves `published_at`, which charts mark.
create table longshore.definition (
  key text not null,
  version integer not null check (version > 0),
  info jsonb not null,
  params_schema json,
  codes jsonb not null default '[]',
  published_at timestamptz not null default clock_timestamp(),
  tenant text not null default 'default',
  deployment integer check (deployment = version),
  primary key (key, version)
);

-- One row per queue: the jobs of one definition version of one tenant. The first enqueue creates it,
-- together with a second queue for the hooks of these jobs, whose key is `$hook:` and the key.
-- Rows change rarely and are cached by every process. A claim reads this row to know everything that
-- restricts it:
--   paused_at           the earliest pause that applies to the queue; null when none does
--   resumed_at          when the last pause ended; alerts count the age of waiting jobs from then
--   definition_limiter  the limiter of the definition's limits, tenant_limiter that of the tenant's;
--                       null without such limits
--   keyed               whether the definition limits its concurrency keys
--   subscribed_states   the states whose events a webhook subscribes to; null when none does
--   plain               nothing of this restricts or watches a start, so the short claim serves the queue
-- A change of a pause, a limit or a webhook updates the queues under `lock_queues()`.
-- The queue of version 0 has the jobs of a released definition that are held or scheduled: they get
-- their version when they become queued (section 13).
create table longshore.queue (
  shard smallint not null,
  queue integer not null,
  tenant text not null,
  key text not null,
  version integer not null,
  paused_at timestamptz,
  resumed_at timestamptz,
  definition_limiter bigint,
  tenant_limiter bigint,
  keyed boolean not null default false,
  subscribed_states longshore.job_state[],
  plain boolean not null generated always as (
    num_nonnulls(paused_at, definition_limiter, tenant_limiter) = 0
    and coalesce('running' <> all (subscribed_states), true)) stored,
  primary key (shard, queue)
);
-- Finds a queue by its definition.
create unique index queue_name on longshore.queue (shard, key, version, tenant)
  where key is not null;

-- Keeps queues from being created until the end of the transaction, so that a queue created later
-- sees the new limits, pauses and webhooks.
create function longshore.lock_queues() returns void
language plpgsql as $$
begin
  lock table longshore.queue in share row exclusive mode;
end $$;

-- The queue of a definition version. It is created on first use, together with the queue of its hooks;
-- a queue counts as created when both exist. This is the only place that creates queues: servers call
-- it (src/store/enqueue/queues.ts), and so does `longshore.enqueue`. The pauses, limits and webhooks
-- that apply are stored from the start. The numbers are the next free ones: two
-- transactions that pick the same number collide on the key, and the later one tries again.
create function longshore.find_or_create_queue(of_shard smallint, of_key text, of_version integer, of_tenant text)
returns longshore.queue language plpgsql as $$
declare
  found_queue longshore.queue;
  top integer;
  name text;
  limits record;
begin
  for try in 1 .. 100 loop
    select q.* into found_queue from longshore.queue q
    where q.shard = of_shard and q.key = of_key and q.version = of_version and q.tenant = of_tenant
      and exists (
        select 1 from longshore.queue h
        where h.shard = of_shard and h.key = '$hook:' || q.key and h.version = q.version
          and h.tenant = q.tenant);
    if found then return found_queue; end if;
    -- A change of limits locks the queues. Limits are read after it, so that a new queue has them.
    lock table longshore.queue in row exclusive mode;
    top := coalesce((select max(q.queue) from longshore.queue q where q.shard = of_shard), 0);
    foreach name in array array[of_key, '$hook:' || of_key] loop
      top := top + 1;
      limits := longshore.limits_of_queue(of_shard, name, of_tenant);
      insert into longshore.queue (shard, queue, key, version, tenant, paused_at, definition_limiter,
        tenant_limiter, keyed, subscribed_states)
      values (of_shard, top, name, of_version, of_tenant, longshore.paused_since(of_tenant, name),
        limits.definition_limiter, limits.tenant_limiter, limits.keyed,
        longshore.subscribed_states(of_tenant, name))
      on conflict do nothing;
    end loop;
  end loop;
  raise exception 'no queue could be created for %@%', of_key, of_version;
end $$;

-- How many attempts a job has whose caller did not say: what its definition says. For jobs that end
-- before their first claim; a claim stores what the definition of its worker says.
create function longshore.default_attempts(of_shard smallint, of_queue integer)
returns integer language sql stable as $$
  select coalesce((
    select (d.info ->> 'maxAttempts')::integer
    from longshore.queue q join longshore.definition d on d.key = q.key and d.version = q.version
    where q.shard = of_shard and q.queue = of_queue), 3)
$$;

-- One row per job, in every state: its body. The enqueue writes it; only replacing a unique job or
-- a retry with edited params changes it. Hooks and webhook deliveries are jobs too: `hook` says which
-- hook or event, and `parent_id` is the job of the hook or the webhook of the delivery.
-- `params` is json and not jsonb, so that it is stored exactly as it was sent.
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
  parent_id uuid,
  hook text,
  primary key (shard, id)
) partition by range (id);
-- Lists the jobs of a definition, newest first.
create index job_queue on longshore.job (shard, queue, id) where queue is not null;
-- Searches by tag.
create index job_tags on longshore.job using gin (tags) where tags is not null;
-- Lists the hooks of a job, and the deliveries of a webhook page by page.
create index job_parent on longshore.job (shard, parent_id, id) where parent_id is not null;

-- An id like those of src/core/job/job-id.ts, made now: milliseconds, the fraction of the
-- millisecond, random bits, the shard.
create function longshore.new_job_id(shard smallint) returns uuid
language sql volatile as $$
  select (lpad(to_hex(micros / 1000), 12, '0') || '7' || lpad(to_hex(micros % 1000 * 4), 3, '0')
    || substr(chance, 17, 13) || lpad(to_hex(shard::integer), 3, '0'))::uuid
  from (
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros,
      replace(gen_random_uuid()::text, '-', '') as chance
  ) now
$$;

-- One row per job that no worker has claimed: created (held), scheduled, queued, retrying or suspended.
--   rank             minus the priority; jobs of one rank form a priority level of their queue
--   seq              the position within the level, in microseconds; set when the job is claimable
--   blocked          the same for a queued job that waits for a permit of its concurrency key: it is
--                    outside of the index that claims read
--   key_limiter      the limiter of the concurrency key, whether or not keys are limited at present
--   has_permit       the job holds one permit of that limiter
--   run_at           when a scheduled, retrying or suspended job becomes queued
--   waits_for        the signal that a suspended job waits for; the row `signal:NAME` of `step` has it.
--                    `:parents` and `:children` mean the jobs of `edge`: no signal has a colon in its name.
--                    `:batch` is a batch that accepts jobs: its `edge` rows do not end its wait
--   max_attempts     null until the first claim when neither caller nor definition said it
--   fails_unserved  the job fails when no worker has its code for a while (`POST /api/jobs/enqueue`);
--                    null means no, which keeps the rows of all other jobs short
--   watched          other jobs wait for its end, so the statement that ends it adds a row to
--                    `ended_watched`; null means no
create table longshore.waiting (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state longshore.job_state not null,
  rank integer not null,
  seq bigint,
  blocked bigint,
  run_at timestamptz,
  expires_at timestamptz,
  attempts integer not null default 0,
  max_attempts integer,
  claim_no integer not null default 0,
  interruptions integer not null default 0,
  queued_at timestamptz,
  key_limiter bigint,
  has_permit boolean not null default false,
  fails_unserved boolean,
  waits_for text,
  watched boolean,
  primary key (id, shard),
  check (state in ('created', 'scheduled', 'queued', 'retrying', 'suspended')),
  check ((state = 'suspended') = (waits_for is not null)),
  check ((state = 'queued') = (num_nonnulls(seq, blocked) = 1)),
  check (state not in ('scheduled', 'retrying', 'suspended') or run_at is not null
    or left(waits_for, 1) = ':'),
  check (state <> 'queued' or queued_at is not null),
  check (attempts >= 0 and max_attempts > 0 and claim_no >= 0 and interruptions >= 0),
  check (not has_permit or (key_limiter is not null and state = 'queued' and blocked is null)),
  check (blocked is null or key_limiter is not null)
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
-- Claims read this and nothing else: it holds exactly the claimable jobs, best first.
create index waiting_claimable on longshore.waiting (shard, queue, rank, seq) where seq is not null;
-- The promoter finds jobs that are due. With the id, because a million jobs may be due at one moment
-- and a page of a list starts among them.
create index waiting_due on longshore.waiting (shard, run_at, id)
  where state in ('scheduled', 'retrying', 'suspended');
-- Counts suspended jobs by what they wait for. In the order of bytes, what is no signal is one range.
create index waiting_cause on longshore.waiting (shard, waits_for collate "C")
  where waits_for is not null;
-- The scheduler finds jobs that have expired.
create index waiting_expiry on longshore.waiting (shard, expires_at) where expires_at is not null;
-- The best blocked job of a key, when a permit is free.
create index waiting_blocked on longshore.waiting (shard, key_limiter, rank, blocked)
  where blocked is not null;
-- The oldest blocked job of a queue, for the overview.
create index waiting_blocked_oldest on longshore.waiting (shard, queue, queued_at) where blocked is not null;
-- Whether a key has a permitted job that is not yet claimed.
create index waiting_permitted on longshore.waiting (shard, key_limiter) where has_permit;
-- Claimable jobs without a permit: the sweep finds them when the keys of a queue become limited.
create index waiting_without_permit on longshore.waiting (shard, queue, seq)
  where key_limiter is not null and seq is not null and not has_permit;
-- Queued jobs that must not wait for a worker that has their code.
create index waiting_unserved on longshore.waiting (shard, queue, queued_at)
  where fails_unserved and state = 'queued';
-- Waiting jobs that were claimed before and so may have failed: searches by error read them.
create index waiting_tried on longshore.waiting (shard, queue, id) where claim_no > 0;

-- One row per job that a worker has claimed. `claim_no` is the fence: every write of a worker names
-- it, so a worker that lost the job can change nothing. `permits` are the limiters of which this claim
-- holds a permit: it gives back what it took, whatever the limits are by then. cancel_requested_by is
-- the actor of the audit log; null when no user requested the cancellation.
create table longshore.running (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state longshore.job_state not null,
  rank integer not null,
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
  key_limiter bigint,
  permits bigint[],
  cancel_requested_by text,
  fails_unserved boolean,
  watched boolean,
  primary key (id, shard),
  check (state in ('running', 'cancelling')),
  check ((state = 'cancelling') = (cancel_requested_at is not null)),
  check (attempts > 0 and claim_no > 0)
) with (fillfactor = 70, vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
-- The jobs of a worker, when its lease ends.
create index running_worker on longshore.running (shard, worker) where worker is not null;

-- One row per job that has ended. The primary key makes a second outcome impossible. `claim_no` shows
-- a worker that repeats its settlement that this outcome is already its own. `fingerprint` identifies
-- an error without the details of one occurrence (src/core/failure/fingerprint.ts).
create table longshore.done (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state longshore.job_state not null,
  rank integer not null,
  attempts integer not null,
  max_attempts integer,
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
  cancel_requested_by text,
  primary key (shard, id),
  check (state in ('succeeded', 'failed', 'cancelled')),
  check (state <> 'failed' or (error_code is not null and error is not null)),
  check (state <> 'cancelled' or cancel_requested_at is not null),
  check (state <> 'succeeded' or result is not null)
) partition by range (id);
-- Dead letters by the time of their end. This index and the next one name different columns in their
-- conditions, so the planner cannot confuse them.
create index done_dead on longshore.done (shard, queue, finished_at, id)
  where state = 'failed' and error_code is not null;
-- Dead letters grouped by fingerprint.
create index done_fingerprint on longshore.done (shard, queue, fingerprint, finished_at, id)
  where state = 'failed' and fingerprint is not null;
-- Lists of failed or cancelled jobs. It starts with the queue, so the few failures of one definition
-- are found beside a hundred thousand of another.
create index done_unsuccessful on longshore.done (shard, queue, state, id) where state <> 'succeeded';
-- Searches by error code. A job that succeeded has no code and is not in it.
create index done_code on longshore.done (shard, queue, error_code, id) where error_code is not null;


-- One row per value in the storage of artifacts: params or a result that is too large for its row, which
-- has a reference (src/core/job/large-value.ts). This row is committed before the value is written, so
-- every value is known and can be deleted: when its job is gone, or was never stored, or when an attempt
-- wrote a result that does not count. `key_id` is the encryption key of the value.
create table longshore.large_value (
  shard smallint not null,
  job_id uuid not null,
  name text not null,
  tenant text not null,
  kind text not null check (kind in ('params', 'result')),
  bytes bigint not null check (bytes > 0),
  key_id text,
  written_at timestamptz not null,
  primary key (shard, job_id, name)
);
-- The large params of a tenant, newest first, for its quota.
create index large_value_params on longshore.large_value (shard, tenant, job_id) where kind = 'params';


-- ===========================================================================================
-- 2. Attempts and history
--
-- All of it belongs to a job and is dropped together with it.
-- ===========================================================================================

-- One row per claim that started and did not succeed, or was cancelled; a success is derived from `done`. The
-- statement that ends the claim writes it. `next` is the state that the job got, `run_at` when it
-- runs again. Most events of a job are derived from this row and stored nowhere else.
-- A retry by hand takes the job out of `done` and keeps its outcome here; `retried` says when, how
-- and with which other params. A job that ended without ever running has a row without worker and
-- start then, which is part of its history but not of its attempts.
create table longshore.attempt (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  number integer not null,
  worker uuid,
  pid integer,
  started_at timestamptz,
  finished_at timestamptz not null,
  exit_code integer,
  signal text,
  peak_rss_bytes bigint,
  cpu_ms integer,
  error_code text,
  error json,
  queued_at timestamptz,
  cancel_requested_at timestamptz,
  next longshore.job_state,
  run_at timestamptz,
  fingerprint text,
  retried json,
  cancel_requested_by text,
  waits_for text,
  primary key (shard, job_id, claim_no)
) partition by range (job_id);
-- Attempts that failed recently and are retried: the alert about retries counts them.
create index attempt_retried on longshore.attempt (shard, finished_at) where next = 'retrying';

-- One row per event that a job emits while it runs. `n` counts within the claim, in the order in which
-- the worker writes. `cancelling` says that the row was written after a cancellation: it is the state
-- of the `running` row, read under a lock that a cancellation waits for. So the order of events
-- depends on no clock.
create table longshore.event (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  n integer not null,
  attempt integer not null,
  type text not null check (type in ('progress', 'step', 'custom', 'hook')),
  cancelling boolean not null,
  at timestamptz not null,
  payload json not null,
  primary key (shard, job_id, claim_no, n)
) partition by range (job_id);

-- One row per batch of log lines. The worker compresses them, so PostgreSQL does not try again.
create table longshore.log_chunk (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  n integer not null,
  attempt integer not null,
  line_count integer not null check (line_count > 0),
  at timestamptz not null,
  data bytea not null,
  primary key (shard, job_id, claim_no, n)
) partition by range (job_id);
alter table longshore.log_chunk alter column data set storage external;

-- What a job has streamed to its readers, in chunks of about 100 ms; encrypted like a result. A job has
-- the chunks of one claim: the first chunk of a claim replaces those of an earlier one.
create table longshore.stream_chunk (
  shard smallint not null,
  job_id uuid not null,
  n integer not null,
  claim_no integer not null,
  attempt integer not null,
  data text not null,
  primary key (shard, job_id, n)
) partition by range (job_id);

-- One row per step that a job has completed; its next attempt reads the value instead of repeating the
-- step. The row with an empty name is the checkpoint, the only one that is overwritten.
create table longshore.step (
  shard smallint not null,
  job_id uuid not null,
  name text not null,
  claim_no integer not null,
  -- Null for the checkpoint, and if the worker did not measure it.
  duration_ms integer,
  at timestamptz not null,
  value json not null,
  primary key (shard, job_id, name)
) partition by range (job_id);

-- One row for each job that a job waits for (docs/guides/dependencies.md). The row stays as long as `job_id`.
--   kind        `after`: the job starts after `on_id`, which existed before it, so there are no cycles.
--               `child`: the job has spawned `on_id` and may wait for it; a child waits for no other job
--   position    the place in the list of the caller; of a child, the order in which they were stored
--   on_failure  what happens to `job_id` if `on_id` does not succeed: fail, cancel, or run as if it had
--   ended       the state in which `on_id` ended; null until the resolver has seen its end
--   name        of a child: its name among the children, by which a repeated attempt finds it
--   asked       of a child: the hash of its definition and params
create table longshore.edge (
  shard smallint not null,
  job_id uuid not null,
  kind text not null check (kind in ('after', 'child')),
  position integer not null,
  on_shard smallint not null,
  on_id uuid not null,
  on_failure text not null check (on_failure in ('fail', 'run', 'cancel')),
  ended longshore.job_state check (ended in ('succeeded', 'failed', 'cancelled')),
  name text,
  asked text,
  primary key (shard, job_id, kind, position),
  check ((kind = 'child') = (name is not null) and (kind = 'child') = (asked is not null))
) partition by range (job_id);
-- The jobs that wait for a job; a parent of very many finds those that have not seen its end.
create index edge_on on longshore.edge (on_shard, on_id, ended) where on_id is not null;
create unique index edge_child on longshore.edge (shard, job_id, name) where name is not null;
-- Whether a job has open children: an end of one of 10,000 reads one entry.
create index edge_open_child on longshore.edge (shard, job_id) where kind = 'child' and ended is null;

-- One row per end of a watched job that the resolver (src/store/edges/resolve-ended.ts) has not seen. The
-- commit of the end writes it, so no end is lost; it is deleted when all jobs that wait have seen the end.
-- A row without a state is a job that was retried, and which more jobs have failed because of than are
-- revived at once (src/store/edges/revive-later.ts). Those with ids up to `revived_to` are done.
create table longshore.ended_watched (
  shard smallint not null,
  id uuid not null,
  state longshore.job_state,
  revived_to uuid,
  check ((state is null) = (revived_to is not null))
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index ended_watched_next on longshore.ended_watched (shard, id) where state is not null;
create index ended_watched_revived on longshore.ended_watched (shard, id) where state is null;

-- For statements that rarely need the body of a job: a function call costs nothing unless it is made,
-- a join is prepared for every execution.
create function longshore.params_of(of_shard smallint, of_id uuid) returns json
language plpgsql stable as $$
begin
  return (select params from longshore.job where shard = of_shard and id = of_id);
end $$;

create function longshore.tags_of(of_shard smallint, of_id uuid) returns text[]
language plpgsql stable as $$
begin
  return (select tags from longshore.job where shard = of_shard and id = of_id);
end $$;

-- The policy of a hook: the shape of the params of its job; null for the first shape.
create function longshore.shape_of(of_shard smallint, of_id uuid) returns jsonb
language plpgsql stable as $$
begin
  return (select jsonb_build_object('paramsShape', policy -> 'paramsShape') from longshore.job
    where shard = of_shard and id = of_id and policy ? 'paramsShape');
end $$;


-- ===========================================================================================
-- 3. Workers
-- ===========================================================================================

-- One row per worker instance; each start of a process has a new id. The lease keeps all claims of the
-- instance valid, so a heartbeat writes one row here and no rows of jobs. No index contains what a
-- heartbeat changes, so the new version of the row stays in its page (HOT).
--   dead_at       set once, when the lease has ended; never unset
--   definitions   the loaded code as key@version: shows whether any live worker can run a job
--   contact_ms    for workers whose heartbeats go to Redis and whose lease is long: this long after
--                 the last contact with the database such a worker has stopped its jobs by itself.
--                 Null: it stops them before its lease ends
--   suspected_at  set when the heartbeats in Redis are missing; a live worker sees it and renews
--   ended_by      how its process ended without being stopped, if its parent saw it: a signal such as
--                 SIGKILL, or "exit code 1". Its claims still end with its lease
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
  contact_ms integer check (contact_ms > 0),
  suspected_at timestamptz,
  ended_by text,
  definitions text[] not null default '{}',
  -- Files of definitions that it could not load, each with the reason.
  not_loaded text[] not null default '{}',
  -- Of a worker over HTTP, else null: the tenant it serves, its key, its address and its last turn.
  tenant text,
  key_id text,
  address text,
  turn_at timestamptz,
  primary key (shard, instance)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
-- All workers that count as alive.
create index worker_alive on longshore.worker (shard, instance) where dead_at is null;


-- ===========================================================================================
-- 4. Limits and pauses
--
-- How many jobs run at a time, how often they start, and what is paused. A limit is a counter in a
-- row, a limiter, which a statement locks when it takes or returns a permit. Counting the running jobs
-- instead would be wrong: a statement that waited for a lock still sees the database as it was before.
-- Only limited queues pay: without limiters, a claim reads the queue's row and nothing more.
--
-- The claim checks the limiters of definition and tenant. The limiter of a concurrency key is checked
-- earlier, when the job becomes queued: without a permit it is blocked, outside of the index that
-- claims read, so a claim never passes blocked jobs. The order of locks: rows of jobs first, then
-- limiters by number, those of keys last. A statement that locks limiters first skips locked jobs.
-- ===========================================================================================

-- The number of a limiter: 61 bits of a hash of its name, so it needs no look-up and no sequence. The
-- limiters of keys have the highest numbers. Two names with one number would share a limit and never
-- exceed it.
create function longshore.limiter_of(kind text, name text) returns bigint
language sql immutable strict parallel safe as $$
  select ('x' || encode(substr(sha256(convert_to(kind || E'\n' || name, 'UTF8')), 1, 8), 'hex'))
    ::bit(64)::bigint & 2305843009213693951
    | case kind when 'key' then 4611686018427387904 else 0 end
$$;

-- One row per limiter: of a definition or a tenant (has a `name`), or of a concurrency key (has a
-- `definition`, the number of its definition's limiter, whose key_lim and key_rate hold for it; so one
-- row changes the limits of all keys).
--   lim, rate            what is allowed in this shard: the total divided by the number of shards
--   key_lim, key_rate    what a definition allows each of its keys
--   in_use, blocked      permits that are taken, jobs that wait for one
--   tokens, refilled_at  the token bucket of a rate: the starts it had left at that time
--   next_at              when the next start of a key is free
--   adopt_until          until then a sweep looks for jobs that were claimed by a process that did not
--                        yet know the limiter
create table longshore.limiter (
  shard smallint not null,
  limiter bigint not null,
  name text,
  definition bigint,
  lim integer check (lim > 0),
  rate jsonb,
  key_lim integer check (key_lim > 0),
  key_rate jsonb,
  in_use integer not null default 0,
  blocked integer not null default 0,
  tokens double precision,
  refilled_at timestamptz,
  next_at timestamptz,
  adopt_until timestamptz,
  primary key (limiter, shard),
  check ((name is null) = (definition is not null))
) with (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.1);
-- For the sweep: limiters with blocked jobs, keys whose next start is due, limiters that still adopt.
create index limiter_blocked on longshore.limiter (shard, limiter) where blocked > 0;
create index limiter_next on longshore.limiter (shard, next_at) where next_at is not null;
create index limiter_adopting on longshore.limiter (shard, adopt_until) where adopt_until is not null;

-- The limiters that a claim from a queue must pass, and whether its concurrency keys are limited: the
-- values of `queue`. Hooks and deliveries, whose keys begin with `$`, have no limits.
create function longshore.limits_of_queue(of_shard smallint, of_key text, of_tenant text)
returns table (definition_limiter bigint, tenant_limiter bigint, keyed boolean)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select case when num_nonnulls(d.lim, d.rate, d.key_rate) > 0 then d.limiter end,
    case when num_nonnulls(t.lim, t.rate, t.key_rate) > 0 then t.limiter end,
    num_nonnulls(d.key_lim, d.key_rate) > 0
  from (values (left(of_key, 1) <> '$')) as q(limited)
  left join longshore.limiter d on q.limited
    and d.shard = of_shard and d.limiter = longshore.limiter_of('definition', of_key)
  left join longshore.limiter t on q.limited
    and t.shard = of_shard and t.limiter = longshore.limiter_of('tenant', of_tenant);
end $$;

-- The starts that a rate has left at a moment. A bucket that was never used is full.
create function longshore.tokens_at(
  rate jsonb, tokens double precision, refilled_at timestamptz, at timestamptz
) returns double precision
language sql immutable parallel safe as $$
  select case when rate is null then null
    when tokens is null then (rate ->> 'burst')::double precision
    else least((rate ->> 'burst')::double precision,
      tokens + greatest(0, extract(epoch from at - refilled_at)) * 1000
        * (rate ->> 'limit')::double precision / (rate ->> 'perMs')::double precision) end
$$;

-- How long until a rate has a start left; 0 when it has one.
create function longshore.token_in_ms(rate jsonb, tokens double precision)
returns double precision
language sql immutable parallel safe as $$
  select greatest(0, 1 - tokens)
    * (rate ->> 'perMs')::double precision / (rate ->> 'limit')::double precision
$$;

-- One row per definition or tenant whose limits an operator has set; they replace those in the code.
create table longshore.limit_override (
  scope text not null check (scope in ('definition', 'tenant')),
  name text not null,
  limits jsonb not null,
  changed_by text,
  changed_at timestamptz not null,
  primary key (scope, name)
);

-- Over how many shards a definition is spread (src/core/shards/spread.ts). `steps` are the spreads of the
-- last days, each with the time from which it holds; `asked` is the next one, which has no time yet. No row:
-- its jobs without keys are in their home shard.
create table longshore.spread (
  key text primary key,
  steps jsonb not null default '[]',
  asked integer check (asked > 0)
);

-- One row per pause that an operator has set. `queue.paused_at` repeats it for each queue.
create table longshore.pause (
  scope text not null check (scope in ('all', 'tenant', 'definition')),
  name text not null,
  paused_by text,
  reason text,
  paused_at timestamptz not null,
  primary key (scope, name),
  check ((scope = 'all') = (name = ''))
);

-- The earliest pause that applies to a queue: the value of `queue.paused_at`. The hooks of a paused
-- definition run, because their jobs have ended; their key is another one.
create function longshore.paused_since(of_tenant text, of_key text) returns timestamptz
language sql stable as $$
  select min(p.paused_at) from longshore.pause p
  where p.scope = 'all' or (p.scope = 'tenant' and p.name = of_tenant)
    or (p.scope = 'definition' and p.name = of_key)
$$;


-- ===========================================================================================
-- 5. Unique keys and idempotency
-- ===========================================================================================

-- One row per key that a job holds, be it an idempotency key or the key of a unique job; `scope` is the
-- kind, the tenant and the definition. The enqueue inserts it in the transaction of the job, so the
-- primary key decides between two callers. A key whose job is gone may be taken over. `params_sha`
-- tells the repetition of a request from another request with the same key.
create table longshore.dedupe (
  shard smallint not null,
  scope text not null,
  key text not null,
  job_id uuid not null,
  params_sha bytea not null,
  primary key (shard, scope, key)
);


-- ===========================================================================================
-- 6. Bulk operations
-- ===========================================================================================

-- One row per operation on all jobs that match a filter. A user starts it; schedulers work it off in
-- batches and store the progress in the transaction of each batch. So a kill in between neither skips
-- a job nor changes one twice.
create table longshore.bulk (
  id uuid primary key,
  tenant text not null,
  action text not null check (action in ('cancel', 'retry', 'delete')),
  filter jsonb not null,
  how jsonb not null,
  status text not null default 'running' check (status in ('running', 'finished', 'aborted')),
  -- Jobs that were created, or ended, after this are not changed.
  before timestamptz not null,
  -- How many jobs a count found at the start; a lower bound when it is not exact.
  matched integer not null check (matched >= 0),
  matched_exactly boolean not null,
  -- How far it has come: shard by shard, and by id within each.
  at_shard smallint not null default 0,
  after_id uuid,
  changed integer not null default 0,
  skipped integer not null default 0,
  failed integer not null default 0,
  note text,
  next_at timestamptz not null,
  finished_at timestamptz
);
-- Unfinished operations whose next batch is due.
create index bulk_due on longshore.bulk (next_at) where status = 'running';
-- Lists the operations of a tenant.
create index bulk_tenant on longshore.bulk (tenant, id) where tenant is not null;


-- ===========================================================================================
-- 7. Schedules
--
-- A schedule is in the shard of the queue of its jobs, so one transaction in one shard writes a slot
-- and its job. Code computes the slots from the cron expression (src/schedule); the database stores how
-- far that has come and what became of each slot. The clock of the database decides what is due.
-- ===========================================================================================

-- One row per schedule, written by the API (source `api`) or by workers from code (source `code`).
--   next_at      the first slot that is not decided yet
--   held_at      a slot that waits until an earlier job has ended (overlap `queue-one`)
--   check_at      when a scheduler must read the row again: at next_at, or soon while a slot is held
--   next_local, held_local  the local time of the slot: several slots may share an instant when clocks
--                           go forward
--   recent_jobs  the last jobs of the schedule: overlap checks whether one of them is unfinished
--   new_slots    the number of slots since old ones were deleted
--   paused_*     since when, by whom and why it is paused; null while it is enabled
-- next_at, held_at and check_at are null while the schedule is paused or over.
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
  -- The shape of the params, which the code of the definition may upgrade.
  params_shape integer not null check (params_shape > 0),
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
  check_at timestamptz,
  recent_jobs uuid[] not null default '{}',
  new_slots integer not null default 0,
  paused_at timestamptz,
  paused_by text,
  pause_reason text,
  primary key (id, shard),
  check ((next_at is null) = (next_local is null)),
  check ((held_at is null) = (held_local is null)),
  check (enabled or num_nonnulls(next_at, held_at, check_at) = 0),
  check (not enabled or num_nonnulls(paused_at, paused_by, pause_reason) = 0)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- Due schedules of a bucket; those that are not due are not read, however many there are.
create index schedule_check on longshore.schedule (shard, bucket, check_at)
  where check_at is not null;
-- Finds a schedule by its name.
create unique index schedule_name on longshore.schedule (shard, tenant, definition_key, name)
  where name is not null;
-- Lists the schedules of a tenant.
create index schedule_tenant on longshore.schedule (shard, tenant, id) where tenant is not null;
-- Schedules with so many slots that old ones must be deleted.
create index schedule_crowded on longshore.schedule (shard, new_slots) where new_slots >= 500;

-- One row per decided slot, written by the scheduler in the transaction that enqueues its job. The
-- primary key makes it impossible to decide about a slot twice. A row with `through` stands for all
-- slots up to that one: after a long outage there may be millions.
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
-- Slots that were missed recently, for the alert.
create index slot_missed on longshore.slot (shard, slot_at)
  where status = 'skipped' and reason in ('missed', 'catch_up_window', 'catch_up_max');

-- One row per scheduler process. The position among the rows with a valid lease says which buckets a
-- process handles; that only saves work, it decides nothing. Each process writes its row every few
-- seconds.
create table longshore.scheduler (
  instance uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  lease_until timestamptz not null
) with (fillfactor = 50);


-- ===========================================================================================
-- 8. Webhooks
-- ===========================================================================================

-- One row per webhook, written by users; every statement that moves a job checks first whether the
-- tenant has an active one. The secret is stored in readable form, because signing needs it; with
-- LONGSHORE_ENCRYPTION_KEYS it is sealed. After a rotation the previous secret signs too, for a while.
-- `failing_since` is when the deliveries began to fail without a success in between.
create table longshore.webhook (
  id uuid primary key,
  tenant text not null,
  url text not null,
  -- 'cloudevents', or a chat.
  format text not null default 'cloudevents',
  description text,
  events text[] not null check (cardinality(events) > 0),
  -- Null means all definitions.
  definition_keys text[] check (cardinality(definition_keys) > 0),
  -- Null means all jobs; otherwise a job needs one of these tags.
  tags text[] check (cardinality(tags) > 0),
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  notice text,
  secret text not null,
  previous_secret text,
  previous_until timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  -- Why the last send failed; null when it did not.
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check ((failures = 0) = (failing_since is null)),
  check (failures > 0 or last_error is null)
) with (fillfactor = 50);
-- Lists the webhooks of a tenant.
create index webhook_tenant on longshore.webhook (tenant, id) where tenant is not null;
-- Whether a tenant has an active webhook.
create index webhook_active on longshore.webhook (tenant) where status = 'active';
-- Active webhooks whose sends fail, the longest failing first.
create index webhook_failing on longshore.webhook (failing_since)
  where failing_since is not null and status = 'active';

-- The events about jobs, and the states that a job enters at each.
create function longshore.job_events() returns table (event text, state longshore.job_state)
language sql immutable as $$
  values ('job.started', 'running'::longshore.job_state), ('job.retrying', 'retrying'),
    ('job.succeeded', 'succeeded'), ('job.failed', 'failed'), ('job.cancelled', 'cancelled'),
    ('job.finished', 'succeeded'), ('job.finished', 'failed'), ('job.finished', 'cancelled')
$$;

-- The states of a definition's jobs whose events a webhook subscribes to: the value of `queue.subscribed_states`.
create function longshore.subscribed_states(of_tenant text, of_key text)
returns longshore.job_state[]
language sql stable as $$
  select array_agg(distinct w.state)
  from longshore.webhook h
  join longshore.job_events() w on w.event = any (h.events)
  where h.tenant = of_tenant and h.status = 'active' and left(of_key, 1) <> '$'
    and (h.definition_keys is null or of_key = any (h.definition_keys))
$$;

-- The next three are called by statements that move jobs, for the few moves that a webhook subscribes
-- to. They are functions because everything in the text of a statement is planned and prepared for
-- each execution, even parts that never run.

-- The webhooks that subscribe to moves of a queue's jobs, with the queue of their deliveries.
create function longshore.subscribed_webhooks(of_shard smallint, of_queue integer)
returns table (webhook uuid, event text, state longshore.job_state, tags text[], queue integer)
language plpgsql stable as $$
declare
  own record;
begin
  select q.key, q.tenant into own from longshore.queue q
  where q.shard = of_shard and q.queue = of_queue
    and exists (select 1 from longshore.webhook h where h.tenant = q.tenant and h.status = 'active');
  if own.tenant is null or left(own.key, 1) = '$' then
    return;
  end if;
  return query
  select h.id, w.event, w.state, h.tags, d.queue
  from longshore.webhook h
  cross join (
    select q.queue from longshore.queue q
    where q.shard = of_shard and q.key = '$webhook' and q.version = 1 and q.tenant = own.tenant
  ) d
  join longshore.job_events() w on w.event = any (h.events)
  where h.tenant = own.tenant and h.status = 'active'
    and (h.definition_keys is null or own.key = any (h.definition_keys));
end $$;

-- Inserts the body of a delivery and returns its id. Its params are `DeliveryParams`
-- (src/core/webhook/webhook-event.ts).
create function longshore.new_delivery(
  of_shard smallint, of_queue integer, webhook uuid, event text, of_job uuid, at timestamptz,
  state longshore.job_state, attempts integer, run_at timestamptz, error json
) returns uuid
language plpgsql volatile as $$
declare
  made uuid := longshore.new_job_id(of_shard);
begin
  insert into longshore.job (shard, id, queue, params, parent_id, hook, created_at)
  values (of_shard, made, of_queue, json_build_object('webhookId', webhook, 'event', event,
    'jobId', of_job, 'at', at, 'status', state, 'attempts', attempts, 'runAt', run_at,
    'error', error), webhook, event, at);
  return made;
end $$;


-- ===========================================================================================
-- 9. Counters and alerts
--
-- How many jobs there are and what became of them, without counting jobs.
-- ===========================================================================================

-- One row per statement that moved jobs, queue and kind of move, written in the same commit; so the sum
-- of `counter` and these rows is exact at every moment. Rows are only added, so no statement waits for
-- a counter that another one has locked. Every second a scheduler rolls them up into the tables below
-- and deletes them (src/store/counters/roll-up.ts).
-- `was` is null when a job is created, `state` when one is removed. `timed` of the jobs waited before
-- they started, or ran before they stopped, as long as `bucket` of the histogram says
-- (src/core/series/histogram.ts), together for `ms`. Plain claims and successes count only moves
-- (`timed` is 0): their workers measure the times and write them once a second, as rows with `n` 0.
-- Such rows also have the CPU time and the peak memory of attempts that ran in a process of their own.
create table longshore.counter_delta (
  at timestamptz not null default clock_timestamp(),
  ms float8,
  queue integer not null,
  n integer not null,
  timed integer not null default 0,
  was longshore.job_state,
  state longshore.job_state,
  shard smallint not null,
  attempt smallint,
  bucket smallint,
  code text,
  cpu_ms bigint,
  peak_rss_bytes bigint
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0,
  vacuum_truncate = off
);
-- The oldest rows, for the roll-up.
create index counter_delta_at on longshore.counter_delta (shard, at);

-- One row per shard: when its deltas were last rolled up.
create table longshore.counter_rollup (
  shard smallint primary key,
  at timestamptz not null
) with (fillfactor = 50);

-- One row per queue and kind of move, for all time. The number of jobs in a state is the number of
-- moves into it minus the number of moves out of it.
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

-- One row per queue, slot, state and bucket of the histogram: how long jobs waited (`state` is running)
-- or ran (any other state). Bucket -1 is for jobs that ended without running. A slot is a quarter of an
-- hour, kept for a day; the slot -infinity is for all time.
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

-- One row per queue, hour and bucket: the times of `counter_span` after their day, for a week more. Alerts
-- compare with them (src/store/alerts/latency-probes.ts). `waited` says whether jobs waited or ran so long.
create table longshore.counter_hour (
  shard smallint not null,
  queue integer not null,
  hour timestamptz not null,
  waited boolean not null,
  bucket smallint not null,
  n bigint not null,
  primary key (shard, queue, hour, waited, bucket)
);

-- What happened to the jobs of a definition over time, for charts: one row per slot of one minute, of a
-- quarter of an hour and of an hour (`minutes`), each kept as long as src/core/series/series-plan.ts says.
-- The empty key is for all definitions of the tenant. A slot in which nothing happened has no row.
create table longshore.counter_series (
  shard smallint not null,
  minutes smallint not null,
  tenant text not null,
  key text not null,
  slot timestamptz not null,
  enqueued integer not null,
  started integer not null,
  succeeded integer not null,
  failed integer not null,
  cancelled integer not null,
  retried integer not null,
  -- The jobs that became queued minus those that left the queue. The depth of the queue at the end of a
  -- slot is its depth now minus these numbers of all later slots.
  deeper integer not null,
  -- How long jobs waited and ran: counts by bucket of the histogram, such as {"31": 2}.
  waited jsonb not null,
  ran jsonb not null,
  primary key (shard, tenant, key, minutes, slot)
) with (fillfactor = 50);

-- What the jobs of a definition of a tenant used on one day (UTC), added up by the roll-up. Rows stay when
-- jobs are deleted, for LONGSHORE_USAGE_DAYS. Hooks count with their definition, but not as jobs.
--   jobs            jobs that ended, in any way
--   attempts        attempts that ended, also those that are retried; they ran for run_ms in total
--   cpu_ms          of attempts that have a process of their own
--   peak_rss_bytes  the largest of these attempts; null when there was none
create table longshore.usage_day (
  shard smallint not null,
  day date not null,
  tenant text not null,
  key text not null,
  jobs bigint not null,
  attempts bigint not null,
  run_ms float8 not null,
  cpu_ms bigint not null,
  peak_rss_bytes bigint,
  primary key (shard, day, tenant, key)
) with (fillfactor = 50);

-- One row per budget of a tenant: how much of one measure all its jobs, or those of one definition, should
-- use at most per day or month (UTC). A budget only fires alerts (src/core/usage/budget.ts).
create table longshore.budget (
  tenant text not null,
  name text not null,
  definition_key text,
  measure text not null check (measure in ('cpuSeconds', 'runSeconds', 'jobs')),
  period text not null check (period in ('day', 'month')),
  amount double precision not null check (amount > 0),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null,
  primary key (tenant, name)
);

-- Corrects the counters and returns by how many jobs they were wrong; called after partitions were
-- dropped with the jobs in them. One statement has one snapshot, in which jobs and counters agree, so
-- the result is exact whatever happens meanwhile. The difference is written as removed jobs. It reads
-- all jobs; the lock keeps two callers from correcting the same difference twice.
create function longshore.recount_counters(of_shard smallint) returns bigint
language plpgsql
set enable_seqscan = on
set plan_cache_mode = force_custom_plan as $$
declare
  wrong bigint;
begin
  perform pg_advisory_xact_lock(hashtext('longshore.recount_counters'), of_shard);
  with counted as (
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
    select of_shard, queue, state, sum(n) from counted group by queue, state having sum(n) <> 0
    returning n
  )
  select coalesce(sum(abs(n)), 0) into wrong from mended;
  return wrong;
end $$;

-- One row per alert: one rule that is true for one subject of one tenant, from when it fires until long
-- after it is resolved. The unique index keeps two schedulers from firing the same alert.
create table longshore.alert (
  id uuid primary key,
  tenant text not null,
  rule text not null,
  severity text not null default 'warning' check (severity in ('warning', 'critical')),
  -- What it is about, within the rule: a definition, a schedule, a webhook, or empty where there is only one.
  subject text not null,
  definition_key text,
  schedule_id uuid,
  webhook_id uuid,
  -- An example of the jobs that it is about.
  job_id uuid,
  -- Of the definition, when it fired.
  owner text,
  runbook_url text,
  value double precision not null,
  threshold double precision not null,
  message text not null,
  fired_at timestamptz not null,
  -- When the rule was last true.
  seen_at timestamptz not null,
  resolved_at timestamptz,
  -- Who silenced it: nothing is sent about it until then, or until it is resolved if that is null.
  silenced_by text,
  silenced_until timestamptz check (silenced_until is null or silenced_by is not null)
) with (fillfactor = 50);
create unique index alert_firing on longshore.alert (tenant, rule, subject) where resolved_at is null;
-- The silence that an alert inherits when it fires again.
create index alert_silenced on longshore.alert (tenant, rule, subject, silenced_until)
  where silenced_until is not null;
-- Alerts whose rule has not been true for a while: they are resolved.
create index alert_seen on longshore.alert (seen_at) where resolved_at is null;
-- Lists the alerts of a tenant.
create index alert_tenant on longshore.alert (tenant, id) where tenant is not null;
-- Resolved alerts that are old enough to be deleted.
create index alert_resolved on longshore.alert (resolved_at) where resolved_at is not null;

-- One row per setting of a rule by a tenant, for all definitions (empty key) or for one. A null means:
-- use the more general value (all definitions, then the configuration, then the code).
create table longshore.alert_rule (
  tenant text not null,
  rule text not null,
  definition_key text not null default '',
  threshold double precision check (threshold > 0),
  window_seconds integer check (window_seconds > 0),
  enabled boolean,
  severity text check (severity in ('warning', 'critical')),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant, rule, definition_key)
);

-- One row per route: where alerts are sent to people, and which ones (src/core/alert/route.ts). The URL
-- of a chat is a secret: with LONGSHORE_ENCRYPTION_KEYS it is sealed. Null filters mean all.
create table longshore.alert_route (
  id uuid primary key,
  tenant text not null,
  name text not null,
  channel text not null check (channel in ('email', 'slack', 'discord', 'teams')),
  recipients text[] not null,
  url text,
  url_host text,
  rules text[] check (cardinality(rules) > 0),
  owners text[] check (cardinality(owners) > 0),
  definition_keys text[] check (cardinality(definition_keys) > 0),
  quiet_hours jsonb,
  group_seconds integer not null check (group_seconds >= 0),
  enabled boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (tenant, name),
  check ((channel = 'email') = (url is null)),
  check ((channel = 'email') = (cardinality(recipients) > 0))
);

-- One row per alert that a route sends. The transaction that fires an alert adds it, the one that
-- resolves it makes it due again, and the one that makes a message (a job of the queue `$alert`) marks
-- it; so each is part of one message about the firing and of one about the end
-- (src/store/alerts/notices.ts).
create table longshore.alert_route_notice (
  route_id uuid not null references longshore.alert_route on delete cascade,
  alert_id uuid not null references longshore.alert on delete cascade,
  -- When its group is to be sent; null when there is nothing to say.
  due_at timestamptz,
  -- When a message said that it fires.
  notified_at timestamptz,
  -- Whether quiet hours held it back: then it is part of their summary.
  held boolean not null default false,
  primary key (route_id, alert_id)
);
-- What is to be sent.
create index alert_route_notice_due on longshore.alert_route_notice (due_at) where due_at is not null;
-- The notices of an alert.
create index alert_route_notice_alert on longshore.alert_route_notice (alert_id) where alert_id is not null;


-- ===========================================================================================
-- 10. Access
--
-- Tenants, API keys, browser sessions and the audit log. Users write them, so there is no shard.
-- ===========================================================================================

-- One row per tenant, the owner of jobs, schedules and keys. The keys of the default tenant may also
-- manage what all tenants share, such as workers. Among jobs of one priority, claims are shared
-- between tenants by weight: twice the weight is twice the share.
create table longshore.tenant (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  created_at timestamptz not null default clock_timestamp(),
  weight smallint not null default 1 check (weight between 1 and 1000)
);
insert into longshore.tenant (name) values ('default');

-- One row per API key `lsk_<id>_<secret>`. Only the SHA-256 of the secret is stored; the secret has 256
-- random bits, so a slow hash would add nothing. A rotated key names its successor and works until it
-- expires. A revoked key keeps its row: once a key has existed, the server stays closed to callers
-- without one.
create table longshore.api_key (
  id text primary key check (id ~ '^[0-9a-f]{16}$'),
  tenant text not null,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  successor text,
  -- The definitions that a worker with this key may serve, like 'report.*'; null means all.
  definitions text[]
);
-- Lists the keys of a tenant.
create index api_key_tenant on longshore.api_key (tenant, id) where tenant is not null;

-- One row per browser session. A session that began with a key has the rights of the key, as long as
-- the key has them; one of a user has the scopes that the groups of the user gave at sign-in. Only
-- a hash of the session id is stored, so read access to this table does not allow to take over a
-- session.
create table longshore.session (
  id_hash bytea primary key check (octet_length(id_hash) = 32),
  tenant text not null,
  key_id text,
  -- The identity provider, and what it says about the user.
  issuer text,
  subject text,
  user_name text,
  email text,
  scopes text[] check (cardinality(scopes) > 0),
  -- Of the request that began it.
  address text,
  user_agent text,
  created_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  check (num_nonnulls(issuer, subject, scopes) = case when key_id is null then 3 else 0 end)
);
-- Expired sessions, to delete them.
create index session_expiry on longshore.session (expires_at) where expires_at is not null;

-- One row per change that a user made, written in the transaction of the change. Ids are ordered by
-- time. `before` and `after` are json, because jsonb cannot store U+0000.
create table longshore.audit (
  id uuid primary key,
  at timestamptz not null default clock_timestamp(),
  tenant text not null,
  actor text not null,
  action text not null,
  subject text not null,
  before json,
  after json,
  address text
);
-- Lists the entries of a tenant, and those about one subject.
create index audit_tenant on longshore.audit (tenant, id) where tenant is not null;
create index audit_subject on longshore.audit (tenant, subject, id) where subject is not null;

-- Entries cannot be changed, and not be deleted during 30 days: a user cannot hide what they did. A
-- configured retention deletes older ones.
create function longshore.audit_is_append_only() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < clock_timestamp() - interval '30 days' then
    return old;
  end if;
  raise exception 'longshore.audit is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_is_append_only before update or delete on longshore.audit
  for each row execute function longshore.audit_is_append_only();
create trigger audit_is_never_emptied before truncate on longshore.audit
  for each statement execute function longshore.audit_is_append_only();


-- ===========================================================================================
-- 11. Partitions and retention
--
-- Retention drops history by whole partitions. Some jobs must stay although their partition expires:
-- jobs that still wait or run, dead letters that are kept longer, and jobs that ended only recently.
-- These survivors are copied into new tables, which replace the partitions they came from: the oldest
-- dated one, and `_old`, which has no lower bound.
--
-- All of it is one transaction, so a kill in the middle changes nothing. The copy takes as long as it
-- takes and blocks no other statement. Only then the tables are locked, for the time to copy the few
-- survivors that may have changed meanwhile, and to drop and attach.
-- ===========================================================================================

-- The lowest id of a moment: this is how a time becomes the bound of a partition.
create function longshore.id_floor(at timestamptz) returns uuid
language sql immutable strict parallel safe as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid
$$;

-- The time of an id.
create function longshore.id_time(id uuid) returns timestamptz
language sql immutable strict parallel safe as $$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- Whether an idempotency key stays in use although its job is deleted. The setting `idempotency_days`
-- counts from the creation of the job; without it, keys end with their jobs.
create function longshore.outlives_job(id uuid) returns boolean
language sql stable strict as $$
  select exists (
    select from longshore.setting s
    where s.name = 'idempotency_days' and (s.value #>> '{}')::integer > 0
      and longshore.id_time(id)
        > clock_timestamp() - make_interval(hours => 24 * (s.value #>> '{}')::integer))
$$;

-- The partitioned tables and the column of each that is the id of a job. `ensure_partitions` creates the
-- partitions of a table that a later migration adds here. Retention copies and locks in this order:
-- body, outcome, the rest.
create function longshore.partitioned_tables()
returns table (name text, id_column text) language sql immutable as $$
  values ('job', 'id'), ('done', 'id'), ('attempt', 'job_id'), ('event', 'job_id'),
    ('log_chunk', 'job_id'), ('step', 'job_id'), ('stream_chunk', 'job_id'),
    ('edge', 'job_id')
$$;

-- The partitions of a table: the suffix of the name, and the bounds. It reads the catalog, so it cannot
-- differ from it. The lower bound of `_old` is null.
create function longshore.partitions(parent text)
returns table (suffix text, lower_id uuid, upper_id uuid) language sql stable as $$
  select substr(c.relname, length(parent) + 1),
    (regexp_match(b.bound, 'FROM \(''([0-9a-f-]{36})''\)'))[1]::uuid,
    (regexp_match(b.bound, 'TO \(''([0-9a-f-]{36})''\)'))[1]::uuid
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
  where i.inhparent = format('longshore.%I', parent)::regclass
$$;

-- Creates a partition as a separate table and attaches it, which blocks neither readers nor writers.
create function longshore.add_partition(parent text, suffix text, lower_id uuid, upper_id uuid)
returns void language plpgsql as $$
begin
  execute format('create table longshore.%I (like longshore.%I including all)',
    parent || suffix, parent);
  execute format('alter table longshore.%I attach partition longshore.%I
    for values from (%s) to (%L)', parent, parent || suffix,
    coalesce(quote_literal(lower_id), 'minvalue'), upper_id);
end $$;

-- Creates the partitions for the ids of today and the next days. The ranges have no gaps: the first has
-- no lower bound, and after a long pause the next one spans the pause. A day is 24 hours here, because
-- `interval '1 day'` depends on the session's time zone twice a year. The setting `partition_days`
-- says how many days a partition spans; it grows with the retention, so there are never many.
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

-- One row per job that left `done`, by a retry or a deletion, since the last run of the retention. The
-- statement that deletes from `done` writes it. So a run that has already copied an outcome learns that
-- it is void, without comparing all outcomes again under the lock.
create table longshore.revived (
  shard smallint not null,
  id uuid not null
);

-- The size of the partitions with this suffix, of all tables.
create function longshore.history_bytes(suffix text) returns numeric
language plpgsql stable as $$
begin
  return (
    select coalesce(sum(pg_total_relation_size(to_regclass('longshore.' || t.name || suffix))), 0)
    from longshore.partitioned_tables() t);
end $$;

-- The partitions that one run replaces: the oldest dated one, if it ends before that id, and those before
-- it. A large `_old` stays as it is, since every run rewrites what it replaces. Survivors are then
-- collected in `_kept`, until that is a quarter of `_old`. So a dead letter that is kept for ever is
-- copied a few times, not every day.
create function longshore.expired_partitions(before uuid, small_bytes bigint)
returns table (suffix text, lower_id uuid, upper_id uuid)
language plpgsql stable as $$
begin
  return query
  with oldest as (
    select p.upper_id from longshore.partitions('job') p
    where p.suffix not in ('_old', '_kept') and p.upper_id <= before
    order by p.upper_id limit 1
  )
  select p.* from longshore.partitions('job') p, oldest o
  where p.upper_id <= o.upper_id and (p.suffix <> '_old' or longshore.history_bytes('_old')
    <= greatest(small_bytes, 4 * longshore.history_bytes('_kept')));
end $$;

-- Copies the survivors of a range of ids into `job_next`, `done_next` and so on, and counts them. One
-- statement, and so one snapshot, decides which jobs survive. `hot_next` gets the jobs that may still
-- change: those that wait or run, and those that ended within the last day. Of these, rows that are only
-- ever added (attempts, events, log lines) are copied here, because they are many; the outcome, the
-- steps and the edges follow under the lock. Other jobs change no more, unless they are revived.
create function longshore.copy_kept(
  low uuid, high uuid, keep_since timestamptz, dead_since timestamptz, hot_since timestamptz
) returns bigint
language plpgsql as $$
declare
  part record;
  copied bigint;
begin
  for part in select * from longshore.partitioned_tables() loop
    execute format('create table longshore.%1$I (like longshore.%2$I including all,
      constraint next_range check (%3$I >= %4$L and %3$I < %5$L))',
      part.name || '_next', part.name, part.id_column, low, high);
  end loop;
  create unlogged table longshore.hot_next (shard smallint, id uuid, late boolean);
  with ended as materialized (
    select f.shard, f.id, f.finished_at from longshore.done f
    where f.id >= low and f.id < high
      and f.finished_at >= case f.state when 'failed' then dead_since else keep_since end
  ),
  warm as materialized (
    select w.shard, w.id from longshore.waiting w where w.id >= low and w.id < high
    union all
    select r.shard, r.id from longshore.running r where r.id >= low and r.id < high
    union all
    select e.shard, e.id from ended e where e.finished_at >= hot_since
  ),
  bodies as (
    insert into longshore.job_next
    select j.* from longshore.job j
    where j.id >= low and j.id < high
      and (j.shard, j.id) in (select shard, id from warm union all select shard, id from ended)
  ),
  outcomes as (
    insert into longshore.done_next
    select f.* from longshore.done f
    where f.id >= low and f.id < high and f.finished_at < hot_since
      and f.finished_at >= case f.state when 'failed' then dead_since else keep_since end
  )
  insert into longshore.hot_next select shard, id, false from warm;
  analyze longshore.hot_next;
  analyze longshore.job_next;
  analyze longshore.done_next;
  for part in select * from longshore.partitioned_tables() where name not in ('job', 'done') loop
    execute format('insert into longshore.%1$I select x.* from longshore.%2$I x
      where x.%3$I >= %4$L and x.%3$I < %5$L
        and (x.shard, x.%3$I) in (select shard, id from longshore.%6$I)',
      part.name || '_next', part.name, part.id_column, low, high,
      case when part.name in ('step', 'edge') then 'done_next' else 'job_next' end);
  end loop;
  select count(*) into copied from longshore.job_next;
  return copied;
end $$;

-- Takes the strong lock, or raises an error; returns the moment since which other statements wait. They
-- queue behind the request, so it gives up sooner than PostgreSQL looks for a deadlock: of two that wait
-- for each other, this one lets go. Between the tries, all others get through.
create function longshore.lock_history(tables text[]) returns timestamptz
language plpgsql
set lock_timeout = '150ms' as $$
declare
  one text;
  since timestamptz;
begin
  for try in 1 .. 5 loop
    since := clock_timestamp();
    begin
      perform pg_advisory_xact_lock(hashtext('longshore.ensure_partitions'));
      foreach one in array tables loop
        execute format('lock table only longshore.%I in access exclusive mode', one);
      end loop;
      return since;
    exception when lock_not_available then
      if try = 5 then raise; end if;
      perform pg_sleep(0.2 * try);
    end;
  end loop;
end $$;

-- Whether a backup or another long transaction uses these tables: then the copy would be in vain.
create function longshore.in_long_use(tables text[]) returns boolean
language sql stable as $$
  select exists (
    select 1 from pg_locks l join pg_stat_activity a using (pid)
    where l.relation = any (select format('longshore.%I', t)::regclass from unnest(tables) t)
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - interval '5 s' and a.pid <> pg_backend_pid())
$$;

-- Under the lock: adds to the copy what has changed since. The cost depends on the number of hot jobs,
-- not on the size of the partition.
create function longshore.copy_late(low uuid, high uuid) returns void
language plpgsql as $$
declare
  part record;
begin
  for part in select * from longshore.partitioned_tables() loop
    execute format('delete from longshore.%I n using longshore.revived r
      where n.shard = r.shard and n.%I = r.id', part.name || '_next', part.id_column);
  end loop;
  delete from longshore.hot_next h using longshore.revived r
    where h.shard = r.shard and h.id = r.id;
  insert into longshore.hot_next
  select shard, id, true from (
    select w.shard, w.id from longshore.waiting w where w.id >= low and w.id < high
    union select r.shard, r.id from longshore.running r where r.id >= low and r.id < high
    union select v.shard, v.id from longshore.revived v where v.id >= low and v.id < high
    except select h.shard, h.id from longshore.hot_next h
  ) late
  where exists (select 1 from longshore.job j where j.shard = late.shard and j.id = late.id);
  for part in select * from longshore.partitioned_tables() loop
    execute format('insert into longshore.%1$I select x.* from longshore.%2$I x
      join longshore.hot_next h on h.shard = x.shard and h.id = x.%3$I
      where x.%3$I >= %4$L and x.%3$I < %5$L and (h.late or %6$L)
      on conflict do nothing',
      part.name || '_next', part.name, part.id_column, low, high, part.name <> 'job');
  end loop;
end $$;

-- Under the lock: the copies replace the partitions. A constraint that they have had from the start
-- proves the bounds, so attaching reads no rows.
create function longshore.replace_partitions(gone text[], target text, low uuid, high uuid)
returns void
language plpgsql as $$
declare
  parent text;
  one text;
begin
  for parent in select name from longshore.partitioned_tables() loop
    foreach one in array gone loop
      execute format('drop table longshore.%I', parent || one);
    end loop;
    execute format('alter table longshore.%I rename to %I', parent || '_next', parent || target);
    for one in
      select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = format('longshore.%I', parent || target)::regclass
    loop
      execute format('alter index longshore.%I rename to %I', one,
        replace(one, parent || '_next', parent || target));
    end loop;
    execute format('alter table longshore.%I attach partition longshore.%I
      for values from (%s) to (%L)', parent, parent || target,
      case target when '_old' then 'minvalue' else quote_literal(low) end, high);
    execute format('alter table longshore.%I drop constraint next_range', parent || target);
  end loop;
  drop table longshore.hot_next;
end $$;

-- Drops the oldest dated partition if all of its jobs were created before the retention period. Returns
-- its name, the number of survivors, and how long other statements had to wait. No row: nothing to drop,
-- or another process does it. It keeps autovacuum off first, which would delay the lock. A transaction
-- with an older snapshot (REPEATABLE READ) that first reads a table afterwards does not see the
-- survivors, as after every rewrite of a table.
create function longshore.drop_oldest(
  retention_days integer, dead_letter_days integer,
  at timestamptz default clock_timestamp(), small_bytes bigint default 67108864
) returns table (dropped text, kept bigint, lock_ms float8)
language plpgsql
set enable_seqscan = on
set plan_cache_mode = force_custom_plan
set lock_timeout = '3s' as $$
declare
  keep_since timestamptz := at - make_interval(hours => 24 * retention_days);
  dead_since timestamptz := at - nullif(make_interval(hours => 24 * dead_letter_days), '0');
  gone text[];
  parents text[] := array(select name from longshore.partitioned_tables());
  parts text[];
  one text;
  low uuid;
  high uuid;
  since timestamptz;
begin
  if not pg_try_advisory_xact_lock(hashtext('longshore.prune')) then return; end if;
  delete from longshore.revived;
  select array_agg(e.suffix order by e.upper_id),
      (array_agg(e.lower_id order by e.upper_id))[1],
      (array_agg(e.upper_id order by e.upper_id desc))[1]
    into gone, low, high
    from longshore.expired_partitions(longshore.id_floor(keep_since), small_bytes) e;
  if gone is null then return; end if;
  if longshore.in_long_use(parents) then
    raise lock_not_available using message = 'history is in use by a long transaction';
  end if;
  low := coalesce(low, '00000000-0000-0000-0000-000000000000');
  parts := array(select parent || suffix from unnest(parents) parent, unnest(gone) suffix);
  foreach one in array parts loop
    execute format('lock table only longshore.%I in share update exclusive mode', one);
  end loop;
  kept := longshore.copy_kept(low, high, keep_since, coalesce(dead_since, '-infinity'),
    at - interval '24 hours');
  since := longshore.lock_history(parents || parts);
  perform longshore.copy_late(low, high);
  perform longshore.replace_partitions(gone,
    case gone[1] when '_old' then '_old' else '_kept' end, low, high);
  dropped := gone[cardinality(gone)];
  lock_ms := extract(epoch from clock_timestamp() - since) * 1000;
  return next;
end $$;

-- Deletes survivors whose own retention is over, one batch. They are few, and only a retry or a deletion
-- by a user locks them.
create function longshore.clean_kept(
  retention_days integer, dead_letter_days integer, batch integer,
  at timestamptz default clock_timestamp()
) returns integer
language plpgsql
set enable_seqscan = on as $$
declare
  keep_since timestamptz := at - make_interval(hours => 24 * retention_days);
  dead_since timestamptz := at - nullif(make_interval(hours => 24 * dead_letter_days), '0');
  one text;
  part record;
  shards smallint[];
  ids uuid[];
  cleaned integer := 0;
begin
  if not pg_try_advisory_xact_lock(hashtext('longshore.prune')) then return 0; end if;
  for one in select suffix from longshore.partitions('job') where suffix in ('_old', '_kept') loop
    execute format('with picked as materialized (
        select f.ctid from longshore.%1$I f
        where f.finished_at < case f.state when ''failed'' then $1 else $2 end
        limit $3 for update skip locked
      ), gone as (
        delete from longshore.%1$I where ctid = any (array(select ctid from picked))
        returning shard, id
      )
      select array_agg(shard), array_agg(id) from gone', 'done' || one)
      into shards, ids using dead_since, keep_since, batch - cleaned;
    cleaned := cleaned + coalesce(cardinality(ids), 0);
    for part in select * from longshore.partitioned_tables() where name <> 'done' loop
      execute format('delete from longshore.%I x using unnest($1, $2) as g(shard, id)
        where x.shard = g.shard and x.%I = g.id', part.name || one, part.id_column)
        using shards, ids;
    end loop;
  end loop;
  return cleaned;
end $$;


-- ===========================================================================================
-- 12. Enqueueing by SQL
--
--   select job_id from longshore.enqueue('{"definitionKey": "mail.send", "params": {"to": 17}}');
--
-- It enqueues in the caller's transaction, from an application in any language or from a trigger. It
-- takes the body of `POST /v1/jobs`, by the same rules, and a `tenant`. src/store/enqueue/enqueue.ts
-- does the same for many jobs at once; test/integration/docs/enqueue-by-sql.test.ts sends requests to
-- both and compares every row.
--
-- The caller's transaction may stay open for long and must not block others. So a job whose concurrency
-- key is limited is not counted at its limiter, which would lock it: it is stored as a scheduled job
-- that is due, and the promoter brings it to its limiter after the commit. NOTIFY is sent at the commit.
--
-- The function runs with the rights of its owner: a caller needs no right on a table, only USAGE of the
-- schema and EXECUTE of this one function. A refusal has SQLSTATE LS400 (invalid request), LS422
-- (invalid params), LS413 (params too large) or LS409 (idempotency key with other params), and a
-- message that begins with a JSON pointer to the field.
-- ===========================================================================================

create function longshore.refuse(pointer text, detail text, code text default 'LS400')
returns void language plpgsql as $$
begin
  raise exception using errcode = code, message = pointer || ': ' || detail;
end $$;

-- FNV-1a, as in src/core/values/hash.ts: the result must never change.
create function longshore.hash_of(value text)
returns bigint language plpgsql immutable as $$
declare
  text_bytes bytea := convert_to(value, 'UTF8');
  hash bigint := 2166136261;
begin
  for n in 0 .. octet_length(text_bytes) - 1 loop
    hash := ((hash # get_byte(text_bytes, n)) * 16777619) & 4294967295;
  end loop;
  return hash;
end $$;

-- Moments of 16 ms take turns.
create function longshore.turn_at(at timestamptz)
returns bigint language sql immutable as $$
  select (floor(extract(epoch from at) * 1000 / 16)::numeric * 2654435761 % 4294967296)::bigint >> 16
$$;

create function longshore.home_shard(tenant text, definition_key text)
returns smallint language sql stable as $$
  select (longshore.hash_of(tenant || E'\n' || definition_key)
    % (select value::text::bigint from longshore.setting where name = 'shards'))::smallint
$$;

-- The next three are src/core/shards/spread.ts in SQL: where the jobs of a concurrency key are, or the row of
-- a unique key; and where a job without keys goes now.
create function longshore.key_shard(kind text, tenant text, definition_key text, key text)
returns smallint language sql stable as $$
  select case when s.shards = 1 then 0 else
    longshore.hash_of(concat_ws(E'\n', kind, tenant, definition_key, key)) % s.shards end::smallint
  from (select value::text::bigint as shards from longshore.setting where name = 'shards') s
$$;

create function longshore.spread_shard(tenant text, definition_key text, at timestamptz)
returns smallint language sql stable as $$
  select case when p.spread is null then longshore.home_shard(tenant, definition_key) else
    (longshore.home_shard(tenant, definition_key)
      + longshore.turn_at(at) % least(p.spread, s.shards)) % s.shards end::smallint
  from (select value::text::bigint as shards from longshore.setting where name = 'shards') s
  left join (
    select coalesce(asked, (steps -> -1 ->> 'spread')::bigint) as spread
    from longshore.spread where key = definition_key
  ) p on s.shards > 1
$$;

-- The next three write JSON as JavaScript does, with the keys of objects sorted: params are stored,
-- measured and compared in this form, whichever way they came.

-- A number as ECMAScript prints the double. In the very rare case that a shorter text lies exactly
-- between two doubles, PostgreSQL prints one digit more than JavaScript does.
create function longshore.json_number(value numeric)
returns text language plpgsql immutable set extra_float_digits = 1 as $$
declare
  parts text[];
  digits text;
  point integer;
begin
  if abs(value) < 1e15 and value = trunc(value) then return trunc(value)::text; end if;
  if abs(value) < 2.5e-324 then return '0'; end if;
  parts := regexp_match(abs(value)::float8::text, '^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$');
  point := length(parts[1]) + coalesce(parts[3]::integer, 0);
  digits := parts[1] || coalesce(parts[2], '');
  point := point - (length(digits) - length(ltrim(digits, '0')));
  digits := trim(both '0' from digits);
  return case when value < 0 then '-' else '' end || case
    when point between length(digits) and 21 then rpad(digits, point, '0')
    when point between 1 and 21 then left(digits, point) || '.' || substr(digits, point + 1)
    when point between -5 and 0 then '0.' || repeat('0', -point) || digits
    else left(digits, 1) || case when length(digits) > 1 then '.' || substr(digits, 2) else '' end
      || 'e' || case when point > 0 then '+' else '-' end || abs(point - 1) end;
exception when numeric_value_out_of_range then
  perform longshore.refuse('/params', 'a number is too large for JSON', 'LS422');
end $$;

-- JavaScript compares texts by UTF-16 units, so characters beyond U+FFFF sort before U+E000.
create function longshore.utf16_order(value text)
returns text language sql immutable as $$
  select coalesce(string_agg(case
      when ascii(c) < 65536 then lpad(to_hex(ascii(c)), 4, '0')
      else to_hex(55232 + (ascii(c) >> 10)) || to_hex(56320 + (ascii(c) & 1023)) end, '' order by n), '')
  from unnest(string_to_array(value, null)) with ordinality as t(c, n)
$$;

create function longshore.canonical_json(value jsonb, depth integer default 1)
returns text language plpgsql immutable as $$
declare
  kind text := jsonb_typeof(value);
begin
  if depth > 10 and kind in ('object', 'array') then
    perform longshore.refuse('/params', 'params nest deeper than 10 levels', 'LS422');
  end if;
  return case kind
    when 'number' then longshore.json_number((value #>> '{}')::numeric)
    when 'array' then '[' || coalesce((
      select string_agg(longshore.canonical_json(e.item, depth + 1), ',' order by e.n)
      from jsonb_array_elements(value) with ordinality as e(item, n)), '') || ']'
    when 'object' then '{' || coalesce((
      -- Keys that are whole numbers come first in JavaScript, by their size.
      select string_agg(to_json(e.key)::text || ':' || longshore.canonical_json(e.value, depth + 1), ','
        order by case when e.key ~ '^(0|[1-9]\d{0,9})$' and e.key::bigint < 4294967295
          then e.key::bigint end nulls last, longshore.utf16_order(e.key) collate "C")
      from jsonb_each(value) e), '') || '}'
    else value::text end;
end $$;

-- Params as they are stored; raises a refusal.
create function longshore.checked_params(value jsonb)
returns text language plpgsql immutable as $$
declare
  written text := longshore.canonical_json(value);
  every_key constant jsonpath := 'strict $.** ? (@.type() == "object").keyvalue().key';
begin
  if (select count(*) from jsonb_path_query(value, every_key)) > 500 then
    perform longshore.refuse('/params', 'params have more than 500 keys in all', 'LS422');
  end if;
  if exists (select 1 from jsonb_path_query(value, every_key) as k(name) where name = '"__proto__"') then
    perform longshore.refuse('/params', 'the key __proto__ is not allowed', 'LS422');
  end if;
  if exists (select 1 from jsonb_path_query(value, every_key) as k(name) where name = '"$sealed"') then
    perform longshore.refuse('/params', 'the key $sealed is not allowed: encrypted values are known by it', 'LS422');
  end if;
  if octet_length(written) > 131072 then
    perform longshore.refuse('/params', format('params are %s bytes as JSON, the limit is 131072: '
      || 'store large data elsewhere and pass a reference', octet_length(written)), 'LS413');
  end if;
  return written;
end $$;

-- The fields of a request and of its nested objects, as in src/protocol/requests/job-body.ts.
create function longshore.request_fields()
returns table (part text, name text, kind text, low numeric, high numeric, required boolean)
language sql immutable as $$
  values ('job', 'definitionKey', 'key', null::numeric, null::numeric, true),
    ('job', 'definitionVersion', 'whole', 1, 2147483647, false),
    ('job', 'paramsShape', 'whole', 1, 1000, false),
    ('job', 'tenant', 'tenant', null, null, false),
    ('job', 'params', 'any', null, null, false),
    ('job', 'priority', 'whole', -1000000, 1000000, false),
    ('job', 'maxAttempts', 'whole', 1, 1000, false),
    ('job', 'idempotencyKey', 'text', 1, 255, false),
    ('job', 'concurrencyKey', 'text', 1, 255, false),
    ('job', 'runAt', 'instant', null, null, false),
    ('job', 'delayMs', 'whole', 0, 316224000000, false),
    ('job', 'hold', 'flag', null, null, false),
    ('job', 'timeoutSeconds', 'seconds', 0, 2592000, false),
    ('job', 'unique', 'unique', null, null, false),
    ('job', 'expiresAt', 'instant', null, null, false),
    ('job', 'skipValidation', 'flag', null, null, false),
    ('job', 'retry', 'retry', null, null, false),
    ('job', 'tags', 'tags', 0, 20, false),
    ('unique', 'key', 'text', 1, 255, false),
    ('unique', 'while', 'while', null, null, true),
    ('unique', 'onConflict', 'answer', null, null, false),
    ('unique', 'maxWaitMs', 'whole', 1, 31622400000, false),
    ('while', 'windowMs', 'whole', 1, 31622400000, true),
    ('retry', 'baseMs', 'number', 0, 31622400000, false),
    ('retry', 'maxMs', 'number', 0, 31622400000, false),
    ('retry', 'delaysMs', 'delays', 1, 1000, false),
    ('retry', 'jitter', 'number', 0, 1, false)
$$;

-- The presets of `retry`, as in src/core/failure/backoff.ts.
create function longshore.retry_presets()
returns table (name text, max_attempts integer, policy jsonb)
language sql immutable as $$
  values ('webhook', 5, '{"baseMs": 1000, "maxMs": 16000, "jitter": 0.1}'::jsonb),
    ('report', 3, '{"baseMs": 30000, "maxMs": 120000, "jitter": 0.1}'),
    ('cleanup', 2, '{"delaysMs": [300000, 900000], "jitter": 0.1}')
$$;

-- A time with its offset, from 1970 on, to the millisecond as in JavaScript; null for any other text.
create function longshore.instant_of(value text)
returns timestamptz language plpgsql stable as $$
declare
  moment timestamptz;
begin
  if value !~ '^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$'
  then return null; end if;
  moment := date_trunc('milliseconds', value::timestamptz);
  return case when moment >= 'epoch' then moment end;
exception when datetime_field_overflow or invalid_datetime_format or invalid_time_zone_displacement_value
  then return null;
end $$;

-- What is wrong with a plain value; null when it is valid.
create function longshore.wrong_value(kind text, low numeric, high numeric, value jsonb)
returns text language plpgsql stable as $$
declare
  type text := jsonb_typeof(value);
  word text := value #>> '{}';
  fits boolean;
begin
  fits := case kind
    when 'any' then true
    when 'flag' then type = 'boolean'
    when 'whole' then case type when 'number'
      then word::numeric between low and high and word::numeric = trunc(word::numeric) end
    when 'number' then case type when 'number' then word::numeric between low and high end
    when 'seconds' then case type when 'number' then word::numeric > low and word::numeric <= high end
    else case type when 'string' then case kind
      when 'key' then word ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$'
      when 'instant' then longshore.instant_of(word) is not null
      when 'answer' then word in ('existing', 'replace')
      when 'tenant' then exists (select 1 from longshore.tenant t where t.name = word)
      when 'text' then length(word) between 1 and high
        and word !~ '[\u0001-\u001f\u007f-\u009f]' end end
    end;
  return case when fits then null else case kind
    when 'flag' then 'must be true or false'
    when 'whole' then format('must be a whole number from %s to %s', low, high)
    when 'number' then format('must be a number from %s to %s', low, high)
    when 'seconds' then format('must be a number above 0 and at most %s (30 days)', high)
    when 'key' then 'must be 1 to 200 letters, digits and . _ : / -, a letter or digit first'
    when 'instant' then 'must be a time from 1970 on in ISO 8601 with an offset, like 2026-01-31T08:00:00Z'
    when 'answer' then 'must be one of existing, replace'
    when 'tenant' then 'must be the name of a tenant that there is'
    else format('must be text of 1 to %s characters without control characters', high) end end;
end $$;

-- Refuses a list that is too long or has an invalid entry.
create function longshore.check_list(at text, value jsonb, low numeric, high numeric,
  kind text, entry_low numeric, entry_high numeric)
returns void language plpgsql stable as $$
declare
  entry record;
begin
  if jsonb_typeof(value) <> 'array' or jsonb_array_length(value) not between low and high then
    perform longshore.refuse(at, format('must be a list of %s to %s entries', low, high));
  end if;
  for entry in
    select e.n - 1 as n, longshore.wrong_value(kind, entry_low, entry_high, e.item) as wrong
    from jsonb_array_elements(value) with ordinality as e(item, n)
  loop
    if entry.wrong is not null then perform longshore.refuse(at || '/' || entry.n, entry.wrong); end if;
  end loop;
end $$;

-- Refuses an object with an unknown, missing or invalid field.
create function longshore.check_fields(of_part text, at text, value jsonb)
returns void language plpgsql stable as $$
declare
  field record;
  place text;
  wrong text;
begin
  if value is null or jsonb_typeof(value) <> 'object' then
    perform longshore.refuse(at, 'must be an object');
  end if;
  for field in
    select coalesce(f.name, e.key) as name, f.kind, f.low, f.high, e.value
    from (select * from longshore.request_fields() where part = of_part) f
    full join jsonb_each(value) e on e.key = f.name
    where e.value is not null or f.required
    order by 1
  loop
    place := at || '/' || replace(replace(field.name, '~', '~0'), '/', '~1');
    wrong := null;
    case
      when field.kind is null then
        wrong := format('unknown field "%s": known are %s', left(field.name, 60), (
          select string_agg(name, ', ') from longshore.request_fields() where part = of_part));
      when field.value is null then wrong := 'is required';
      when field.kind = 'unique' then perform longshore.check_fields('unique', place, field.value);
      when field.kind = 'while' then
        if field.value not in ('"queued"', '"active"') then
          if jsonb_typeof(field.value) <> 'object' then
            wrong := 'must be queued, active or an object with windowMs';
          else perform longshore.check_fields('while', place, field.value); end if;
        end if;
      when field.kind = 'retry' then
        if jsonb_typeof(field.value) = 'object' then
          perform longshore.check_fields('retry', place, field.value);
        elsif not exists (
          select 1 from longshore.retry_presets() p where to_jsonb(p.name) = field.value
        ) then
          wrong := format('must be a preset (%s) or an object', (
            select string_agg(name, ', ') from longshore.retry_presets()));
        end if;
      when field.kind = 'tags' then
        perform longshore.check_list(place, field.value, field.low, field.high, 'text', 1, 100);
      when field.kind = 'delays' then
        perform longshore.check_list(place, field.value, field.low, field.high, 'number', 0, 31622400000);
      else wrong := longshore.wrong_value(field.kind, field.low, field.high, field.value);
    end case;
    if wrong is not null then perform longshore.refuse(place, wrong); end if;
  end loop;
end $$;

-- Refuses an invalid request: first field by field, then the rules between fields.
create function longshore.check_request(request jsonb)
returns void language plpgsql stable as $$
declare
  expiry timestamptz;
  repeated bigint;
begin
  perform longshore.check_fields('job', '', request);
  if request ?& array['runAt', 'delayMs'] then
    perform longshore.refuse('/delayMs', 'delayMs and runAt exclude each other');
  end if;
  if request -> 'hold' = 'true' and request #>> '{unique,onConflict}' = 'replace' then
    perform longshore.refuse('/hold', 'hold and replacing an earlier job exclude each other');
  end if;
  if request -> 'unique' ? 'maxWaitMs' then
    if request #>> '{unique,onConflict}' is distinct from 'replace' then
      perform longshore.refuse('/unique/maxWaitMs', 'needs onConflict replace');
    elsif request ? 'runAt' then
      perform longshore.refuse('/unique/maxWaitMs', 'excludes runAt: use delayMs');
    elsif (request ->> 'delayMs')::numeric > (request #>> '{unique,maxWaitMs}')::numeric then
      perform longshore.refuse('/unique/maxWaitMs', 'must be at least delayMs');
    end if;
  end if;
  expiry := longshore.instant_of(request ->> 'expiresAt');
  if expiry <= longshore.instant_of(request ->> 'runAt') then
    perform longshore.refuse('/expiresAt', 'must be later than runAt, or it could never run');
  end if;
  if expiry <= clock_timestamp() then
    perform longshore.refuse('/expiresAt', 'must be a time to come');
  end if;
  if jsonb_typeof(request -> 'retry') = 'object' and request -> 'retry' ? 'delaysMs'
    and request -> 'retry' ?| array['baseMs', 'maxMs'] then
    perform longshore.refuse('/retry/delaysMs', 'delaysMs excludes baseMs and maxMs');
  end if;
  select min(t.n) - 1 into repeated
  from jsonb_array_elements(request -> 'tags') with ordinality as t(tag, n)
  where exists (
    select 1 from jsonb_array_elements(request -> 'tags') with ordinality as e(tag, n)
    where e.tag = t.tag and e.n < t.n);
  if repeated is not null then
    perform longshore.refuse('/tags/' || repeated, 'is in the list already');
  end if;
end $$;

-- The retry policy of a preset or of rules, with the defaults of src/core/failure/retry-input.ts.
create function longshore.retry_policy(retry jsonb)
returns jsonb language sql immutable as $$
  select case
    when jsonb_typeof(retry) = 'string' then (
      select p.policy from longshore.retry_presets() p where p.name = retry #>> '{}')
    when retry ? 'delaysMs' then '{"jitter": 0.1}' || retry
    when retry is not null then '{"jitter": 0.1, "baseMs": 1000}' || jsonb_build_object('maxMs',
      greatest(60000, (retry ->> 'baseMs')::numeric)) || retry end
$$;

-- The state of the job that holds a key; no row when the job is gone. While retention replaces
-- partitions, one query may miss it, so there are two.
create function longshore.holder_job(of_id uuid)
returns table (state longshore.job_state, queue integer, untouched boolean, age_ms float8)
language plpgsql as $$
declare
  of_shard smallint := ('x' || right(of_id::text, 3))::bit(12)::integer & 1023;
begin
  for look in 1 .. 2 loop
    return query
    select n.state, n.queue, n.untouched,
      (extract(epoch from clock_timestamp() - j.created_at) * 1000)::float8
    from (
      select w.state, w.queue, w.claim_no = 0 as untouched from longshore.waiting w
      where w.shard = of_shard and w.id = of_id
      union all
      select r.state, r.queue, false from longshore.running r where r.shard = of_shard and r.id = of_id
      union all
      select d.state, d.queue, false from longshore.done d where d.shard = of_shard and d.id = of_id
    ) n, longshore.job j
    where j.shard = of_shard and j.id = of_id limit 1;
    if found then return; end if;
  end loop;
end $$;

-- Whether a unique job still excludes others, as in src/core/job/unique.ts.
create function longshore.still_holds(during jsonb, state longshore.job_state, age_ms float8)
returns boolean language sql immutable as $$
  select case during
    when '"queued"' then state in ('created', 'scheduled', 'queued', 'retrying')
    when '"active"' then state not in ('succeeded', 'failed', 'cancelled')
    else age_ms < (during ->> 'windowMs')::float8 end
$$;

-- Gives a waiting job that was never claimed the params, priority and times of a later request
-- (src/store/enqueue/unique-jobs.ts says why its row is deleted and inserted). Null when it is too late.
create function longshore.replace_job(of_shard smallint, of_id uuid, of_queue integer, new_params text,
  new_shape jsonb, new_rank integer, new_run_at timestamptz, new_expires_at timestamptz, at timestamptz)
returns longshore.job_state language plpgsql as $$
declare
  gone longshore.waiting;
begin
  delete from longshore.waiting w
  where w.shard = of_shard and w.id = of_id and w.queue = of_queue and w.claim_no = 0
    and (w.state <> 'queued' or new_run_at <= at)
  returning w.* into gone;
  if gone.id is null then return null; end if;
  update longshore.job set params = new_params::json, policy = (policy - 'paramsShape') || new_shape
  where shard = of_shard and id = of_id;
  gone.rank := new_rank;
  gone.run_at := case when gone.state = 'scheduled' or (gone.state = 'created' and new_run_at > at)
    then new_run_at end;
  gone.expires_at := new_expires_at;
  insert into longshore.waiting select gone.*;
  return gone.state;
end $$;

-- Takes the key of a unique job. Returns the existing job when no new one is needed. The key stays
-- locked until the end of the transaction either way.
create function longshore.meet_holder(of_shard smallint, of_scope text, of_key text, of_id uuid,
  of_queue longshore.queue, unique_request jsonb, new_params text, new_shape jsonb, new_sha bytea, new_rank integer,
  new_run_at timestamptz, new_expires_at timestamptz, at timestamptz)
returns table (job_id uuid, state longshore.job_state)
language plpgsql as $$
#variable_conflict use_column
declare
  holder_id uuid;
  holder record;
  holder_shard smallint;
  holder_queue integer;
  replaced longshore.job_state;
begin
  insert into longshore.dedupe as d (shard, scope, key, job_id, params_sha)
  values (of_shard, of_scope, of_key, of_id, new_sha)
  on conflict (shard, scope, key) do update set job_id = d.job_id
  returning d.job_id into holder_id;
  if holder_id = of_id then return; end if;
  select * into holder from longshore.holder_job(holder_id);
  if found and longshore.still_holds(unique_request -> 'while', holder.state, holder.age_ms) then
    if unique_request ->> 'onConflict' is distinct from 'replace' then
      return query select holder_id, holder.state;
      return;
    end if;
    holder_shard := ('x' || right(holder_id::text, 3))::bit(12)::integer & 1023;
    -- With another concurrency key, the holder is in another shard.
    holder_queue := case when holder_shard = of_queue.shard then of_queue.queue
      else (longshore.find_or_create_queue(holder_shard, of_queue.key, of_queue.version, of_queue.tenant)).queue end;
    if holder.untouched and holder.queue = holder_queue then
      -- `least` ignores the null of a request without maxWaitMs.
      replaced := longshore.replace_job(holder_shard, holder_id, holder_queue, new_params, new_shape,
        new_rank, least(new_run_at, at + make_interval(
          secs => ((unique_request ->> 'maxWaitMs')::float8 - holder.age_ms) / 1000)),
        new_expires_at, at);
      if replaced is not null then
        return query select holder_id, replaced;
        return;
      end if;
      select * into holder from longshore.holder_job(holder_id);
    end if;
    if found and unique_request -> 'while' <> '"queued"'
      and longshore.still_holds(unique_request -> 'while', holder.state, holder.age_ms) then
      return query select holder_id, holder.state;
      return;
    end if;
  end if;
  update longshore.dedupe d set job_id = of_id
  where d.shard = of_shard and d.scope = of_scope and d.key = of_key;
end $$;

-- Takes an idempotency key. Returns the job that has it already, if there is one.
create function longshore.take_key(of_shard smallint, of_scope text, of_key text, of_id uuid, sha bytea)
returns table (job_id uuid, state longshore.job_state)
language plpgsql as $$
#variable_conflict use_column
declare
  held record;
  holder record;
begin
  for try in 1 .. 5 loop
    insert into longshore.dedupe (shard, scope, key, job_id, params_sha)
    values (of_shard, of_scope, of_key, of_id, sha) on conflict do nothing;
    if found then return; end if;
    select d.job_id, d.params_sha into held from longshore.dedupe d
    where d.shard = of_shard and d.scope = of_scope and d.key = of_key;
    continue when not found;
    select * into holder from longshore.holder_job(held.job_id);
    if found then
      if held.params_sha <> sha then
        perform longshore.refuse('/idempotencyKey', 'this key was used for a job with other params', 'LS409');
      end if;
      return query select held.job_id, holder.state;
      return;
    end if;
    if longshore.outlives_job(held.job_id) then
      perform longshore.refuse('/idempotencyKey', format('this key was used for job %s, which is deleted',
        held.job_id), 'LS409');
    end if;
    delete from longshore.dedupe d
    where d.shard = of_shard and d.scope = of_scope and d.key = of_key and d.job_id = held.job_id;
  end loop;
  raise exception 'an idempotency key kept changing hands' using errcode = 'serialization_failure';
end $$;

-- Notifies workers or schedulers at the commit. Schedulers find later jobs by their regular poll,
-- which is rarer where there are several shards.
create function longshore.notify_job(of_shard smallint, of_queue integer, of_rank integer,
  of_state longshore.job_state, due_in_ms float8)
returns void language plpgsql as $$
begin
  if of_state = 'queued' then
    perform pg_notify('longshore_wake', format('%s:%s:%s', of_shard, of_queue, of_rank));
  elsif of_state = 'scheduled' and due_in_ms < (
      select case when s.value = '1' then 5000 else 60000 end
      from longshore.setting s where s.name = 'shards') then
    perform pg_notify('longshore_due',
      format('jobs:%s:%s', greatest(0, round(due_in_ms)), of_shard));
  end if;
end $$;

create function longshore.enqueue(request jsonb)
returns table (job_id uuid, status text, created boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan set timezone = 'UTC'
as $$
#variable_conflict use_column
declare
  tenant text := coalesce(request ->> 'tenant', 'default');
  definition_key text := request ->> 'definitionKey';
  idempotency_key text := request ->> 'idempotencyKey';
  home smallint;
  unique_key text;
  unique_shard smallint;
  params text;
  sha bytea;
  published record;
  of_tenant text := coalesce(request ->> 'tenant', 'default');
  wanted integer;
  shard smallint;
  queue longshore.queue;
  key_limiter bigint;
  rank integer;
  policy jsonb := '{}';
  shape jsonb := '{}';
  at timestamptz := clock_timestamp();
  due timestamptz;
  expiry timestamptz;
  state longshore.job_state;
  earlier record;
begin
  perform longshore.check_request(request);
  params := longshore.checked_params(coalesce(request -> 'params', '{}'));
  sha := sha256(convert_to(params, 'UTF8'));
  wanted := coalesce((request ->> 'definitionVersion')::integer, longshore.released_version(tenant,
    definition_key, coalesce(request ->> 'concurrencyKey', gen_random_uuid()::text)));
  select d.version, (d.info ->> 'maxAttempts')::integer as max_attempts,
    (d.info ->> 'paramsShape')::integer as params_shape into published
  from longshore.definition d
  where d.key = definition_key and d.tenant in (of_tenant, 'default')
    and (d.version = wanted or wanted is null and d.deployment is null)
  order by d.version desc limit 1;
  home := longshore.home_shard(tenant, definition_key);
  if request ? 'unique' then
    unique_key := coalesce('key:' || (request #>> '{unique,key}'), 'params:' || encode(sha, 'hex'));
    unique_shard := longshore.key_shard('unique', tenant, definition_key, unique_key);
  end if;
  shard := case when request ->> 'concurrencyKey' is not null
      then longshore.key_shard('concurrency', tenant, definition_key, request ->> 'concurrencyKey')
    when request ? 'unique' then unique_shard
    else longshore.spread_shard(tenant, definition_key, at) end;
  due := coalesce(longshore.instant_of(request ->> 'runAt'),
    at + make_interval(secs => coalesce((request ->> 'delayMs')::float8, 0) / 1000));
  queue := longshore.find_or_create_queue(shard, definition_key, case
      when wanted is not null and not request ? 'definitionVersion'
        and (request ?| array['runAt', 'delayMs'] or request -> 'hold' = 'true') then 0
      else coalesce(wanted, published.version, 1) end, tenant);
  rank := -coalesce((request ->> 'priority')::integer, 0);
  expiry := longshore.instant_of(request ->> 'expiresAt');
  job_id := longshore.new_job_id(shard);
  created := false;
  if coalesce((request ->> 'paramsShape')::integer, published.params_shape, 1) > 1 then
    shape := jsonb_build_object('paramsShape',
      coalesce((request ->> 'paramsShape')::integer, published.params_shape));
  end if;

  if idempotency_key is not null then
    select * into earlier from longshore.take_key(home,
      E'idempotency\n' || tenant || E'\n' || definition_key, idempotency_key, job_id, sha);
    if found then
      return query select earlier.job_id, earlier.state::text, false;
      return;
    end if;
  end if;
  if request ? 'unique' then
    policy := jsonb_build_object('unique',
      jsonb_build_object('key', unique_key, 'while', request #> '{unique,while}'));
    select * into earlier from longshore.meet_holder(unique_shard,
      E'unique\n' || tenant || E'\n' || definition_key, unique_key, job_id, queue,
      request -> 'unique', params, shape, sha, rank, due, expiry, at);
    if found then
      -- The same request once more shall be answered with the same job, however that is by then.
      update longshore.dedupe d set job_id = earlier.job_id
      where idempotency_key is not null and d.shard = home
        and d.scope = E'idempotency\n' || tenant || E'\n' || definition_key and d.key = idempotency_key;
      perform longshore.notify_job(queue.shard, queue.queue, rank, earlier.state,
        extract(epoch from due - at) * 1000);
      return query select earlier.job_id, earlier.state::text, false;
      return;
    end if;
  end if;

  -- Less than half a millisecond would round to "no time at all".
  if request ? 'timeoutSeconds' then
    policy := policy || jsonb_build_object('timeoutMs',
      greatest(1, round((request ->> 'timeoutSeconds')::numeric * 1000)));
  end if;
  if request ? 'retry' then
    policy := policy || jsonb_build_object('retry', longshore.retry_policy(request -> 'retry'));
  end if;
  key_limiter := longshore.limiter_of('key',
    tenant || E'\n' || definition_key || E'\n' || (request ->> 'concurrencyKey'));
  state := case when request -> 'hold' = 'true' then 'created'
    when due > at or (key_limiter is not null and queue.keyed) then 'scheduled' else 'queued' end;
  insert into longshore.job (shard, id, queue, params, tags, idempotency_key, policy, created_at,
    concurrency_key)
  values (shard, job_id, queue.queue, params::json,
    (select array_agg(t.tag order by t.n)
      from jsonb_array_elements_text(request -> 'tags') with ordinality as t(tag, n)),
    idempotency_key, nullif(policy || shape, '{}'), at, request ->> 'concurrencyKey');
  insert into longshore.waiting (shard, id, queue, state, rank, key_limiter, seq, run_at, expires_at,
    max_attempts, queued_at)
  values (shard, job_id, queue.queue, state, rank, key_limiter,
    case when state = 'queued' then (extract(epoch from at) * 1000000)::bigint end,
    case when state = 'scheduled' or (state = 'created' and (request ? 'runAt' or due > at)) then due end,
    expiry,
    coalesce((request ->> 'maxAttempts')::integer,
      (select p.max_attempts from longshore.retry_presets() p where p.name = request ->> 'retry'),
      published.max_attempts),
    case when state = 'queued' then at end);
  insert into longshore.counter_delta (shard, queue, state, n) values (shard, queue.queue, state, 1);
  perform longshore.notify_job(shard, queue.queue, rank, state, extract(epoch from due - at) * 1000);
  return query select job_id, state::text, true;
end $$;

-- USAGE of the schema, given to read queues for example, does not include the right to start jobs.
revoke execute on function longshore.enqueue(jsonb) from public;


-- ===========================================================================================
-- 13. Deployments
--
-- Code that was uploaded (docs/deployments.md). An artifact is an archive, stored by its content. A
-- deployment is an immutable, numbered set of definitions of one artifact; its number is the version
-- of these definitions, so every job names the code it runs. A release is the pointer of a definition
-- to the deployment that new jobs get.
-- ===========================================================================================

-- removed_at: no deployment needs it, and its content was deleted. An upload brings it back.
create table longshore.artifact (
  tenant text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  format text not null check (format in ('tar.gz', 'zip')),
  bytes bigint not null check (bytes > 0),
  manifest jsonb,
  signature jsonb,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  primary key (tenant, sha256)
);

-- keys: its definitions. manifest: where their code begins; that of the artifact, or made from a call.
-- A retired one is no longer served.
create table longshore.deployment (
  number integer primary key,
  tenant text not null,
  sha256 text not null,
  keys text[] not null,
  manifest jsonb not null,
  note text,
  revision text,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  retired_at timestamptz,
  -- Why a worker could not load it, and since when; null again when one has loaded it.
  load_problem text,
  load_problem_at timestamptz,
  foreign key (tenant, sha256) references longshore.artifact
);

-- canary_percent: the share of new jobs that get the canary.
create table longshore.release (
  tenant text not null,
  key text not null,
  current integer not null references longshore.deployment,
  previous integer references longshore.deployment,
  canary integer references longshore.deployment,
  canary_percent real check (canary_percent > 0 and canary_percent < 100),
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp(),
  reason text,
  primary key (tenant, key),
  check ((canary is null) = (canary_percent is null))
);

-- The version that a new job of a definition gets; null without a release. The same as
-- src/core/deployment/release.ts: a canary gets the jobs whose seed has a small hash.
create function longshore.released_version(of_tenant text, of_key text, seed text)
returns integer language sql stable as $$
  select case when r.canary_percent > longshore.hash_of(seed) % 10000 / 100.0
    then r.canary else r.current end
  from longshore.release r
  where r.key = of_key and r.tenant in (of_tenant, 'default')
  order by r.tenant = of_tenant desc limit 1
$$;

-- Gives jobs the version that a new job would get now: moves them to its queue. For jobs that wait
-- in a queue of version 0, and for a retry by hand that asks for it. The caller holds the jobs.
-- The counters move with them, as if the jobs had always been in the new queue: sums per definition
-- stay as they are. Returns the jobs that got another version, and the one they had.
create function longshore.follow_release(of_shard smallint, of_ids uuid[])
returns table (moved_id uuid, version_before integer) language plpgsql as $$
declare
  moved record;
  now_version integer;
  target longshore.queue;
  held longshore.job_state;
  sources int[] := '{}';
  targets int[] := '{}';
  states longshore.job_state[] := '{}';
begin
  for moved in
    select j.id, j.queue, q.key, q.tenant, q.version as before,
      coalesce(j.concurrency_key, j.id::text) as seed
    from longshore.job j
    join longshore.queue q on q.shard = of_shard and q.queue = j.queue
    where j.shard = of_shard and j.id = any (of_ids)
  loop
    now_version := coalesce(longshore.released_version(moved.tenant, moved.key, moved.seed), (
      select max(d.version) from longshore.definition d
      where d.key = moved.key and d.deployment is null), nullif(moved.before, 0), 1);
    continue when now_version = moved.before;
    target := longshore.find_or_create_queue(of_shard, moved.key, now_version, moved.tenant);
    update longshore.job set queue = target.queue where shard = of_shard and id = moved.id;
    update longshore.waiting set queue = target.queue where shard = of_shard and id = moved.id
      returning state into held;
    if not found then
      update longshore.done set queue = target.queue where shard = of_shard and id = moved.id
        returning state into held;
    end if;
    continue when not found;
    sources := sources || moved.queue;
    targets := targets || target.queue;
    states := states || held;
    moved_id := moved.id;
    version_before := moved.before;
    return next;
  end loop;
  insert into longshore.counter_delta (shard, queue, state, n)
  select of_shard, m.queue, m.state, sum(m.n) from (
    select unnest(targets) as queue, unnest(states) as state, 1 as n
    union all
    select unnest(sources), unnest(states), -1
  ) m group by m.queue, m.state;
end $$;


-- ===========================================================================================
-- 14. Secrets
-- ===========================================================================================

-- One row per secret of jobs (docs/secrets.md). Every new value has a new id, by which workers notice
-- it. `key` is the definition, or '*' for all of the tenant. The value is always sealed, bound to
-- tenant, key and name; `bytes` is its size before. Values are in no other table.
create table longshore.secret (
  id uuid primary key,
  tenant text not null,
  key text not null,
  name text not null,
  value text not null check (value like '{"$sealed":"%'),
  bytes integer not null check (bytes > 0),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null
);
-- The secrets of a definition, and those of a tenant.
create unique index secret_name on longshore.secret (tenant, key, name) where name is not null;


-- ===========================================================================================
-- 15. Rounds of few jobs
-- ===========================================================================================

-- The same as the statements `claim` and `settle_and_claim` (src/store/claim/few.ts), for up to three
-- successes and one level. Those statements set up the nodes of a large plan for each batch, which costs
-- more than one job; here each step is a small plan. Settles the claims of_claims of the jobs of_ids,
-- then claims at most `most` jobs of the level for a worker. A first row with `settled` lists what the
-- fence let through; without it, it was everything.
create function longshore.settle_and_claim_few(
  of_shard smallint, most integer, of_worker uuid, of_queue integer, of_rank integer,
  floor_seq bigint, default_attempts integer, of_ids uuid[], of_claims integer[], results json,
  pids integer[], peaks bigint[], cpus integer[]
) returns table (
  settled uuid[], id uuid, queue integer, rank integer, seq bigint, attempts integer,
  "maxAttempts" integer, claim integer, interruptions integer, "paramsJson" text, policy jsonb,
  limited boolean, watched boolean, traceparent text, "waitedMs" integer
) language plpgsql as $$
#variable_conflict use_column
declare
  ended_ids uuid[] := '{}';
  r longshore.running;
  w longshore.waiting;
  is_keyed boolean;
begin
  for i in 1 .. cardinality(of_ids) loop
    delete from longshore.running o
    where o.shard = of_shard and o.id = of_ids[i] and o.claim_no = of_claims[i]
      and o.state = 'running' and o.permits is null and o.watched is null
      and not exists (
        select 1 from longshore.queue q
        where q.shard = of_shard and q.queue = o.queue
          and coalesce('succeeded' = any (q.subscribed_states), false))
    returning o.* into r;
    continue when not found;
    insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at, finished_at,
      progress_fraction, progress_message, pid, peak_rss_bytes, cpu_ms, result)
    values (of_shard, r.id, r.queue, 'succeeded', r.rank, r.attempts, r.max_attempts, r.claim_no,
      r.interruptions, r.queued_at, r.worker, r.started_at, clock_timestamp(),
      r.progress_fraction, r.progress_message, pids[i], peaks[i], cpus[i], results -> (i - 1));
    insert into longshore.counter_delta (shard, queue, was, state, n)
    values (of_shard, r.queue, 'running', 'succeeded', 1);
    ended_ids := ended_ids || of_ids[i];
  end loop;
  if cardinality(ended_ids) < cardinality(of_ids) then
    settled := ended_ids;
    return next;
    settled := null;
  end if;
  if most = 0 then return; end if;

  select q.keyed into is_keyed from longshore.queue q
  where q.shard = of_shard and q.queue = of_queue and q.plain
    and exists (
      select 1 from longshore.worker i
      where i.shard = of_shard and i.instance = of_worker
        and i.dead_at is null and i.draining_at is null);
  if not found then return; end if;
  for i in 1 .. most loop
    delete from longshore.waiting o
    where o.ctid = (
      select h.ctid from longshore.waiting h
      where h.shard = of_shard and h.queue = of_queue and h.rank = of_rank and h.seq > floor_seq
        and (h.expires_at is null or h.expires_at > clock_timestamp())
        and (h.has_permit or h.key_limiter is null or not is_keyed)
      order by h.seq limit 1
      for update skip locked)
    returning o.* into w;
    exit when not found;
    id := w.id;
    queue := w.queue;
    rank := w.rank;
    seq := w.seq;
    attempts := w.attempts + 1;
    "maxAttempts" := coalesce(w.max_attempts, default_attempts);
    claim := w.claim_no + 1;
    interruptions := w.interruptions;
    limited := w.has_permit;
    watched := w.watched is not null;
    insert into longshore.running (shard, id, queue, state, rank, key_limiter, expires_at, attempts,
      max_attempts, claim_no, interruptions, queued_at, worker, started_at, permits, fails_unserved,
      watched)
    values (of_shard, w.id, w.queue, 'running', w.rank, w.key_limiter, w.expires_at, w.attempts + 1,
      coalesce(w.max_attempts, default_attempts), w.claim_no + 1, w.interruptions, w.queued_at,
      of_worker, clock_timestamp(), case when w.has_permit then array[w.key_limiter] end,
      w.fails_unserved, w.watched);
    insert into longshore.counter_delta (shard, queue, was, state, n)
    values (of_shard, w.queue, 'queued', 'running', 1);
    select j.params::text, j.policy, j.traceparent into "paramsJson", policy, traceparent
    from longshore.job j where j.shard = of_shard and j.id = w.id;
    "waitedMs" := date_part('epoch', clock_timestamp() - w.queued_at) * 1000;
    return next;
  end loop;
end $$;


-- ===========================================================================================
-- 16. Saved views
-- ===========================================================================================

-- One row per saved view of a list in the dashboard: the query string of its screen, under a name that
-- the people of a tenant share.
create table longshore.saved_view (
  tenant text not null,
  name text not null,
  screen text not null check (screen in ('jobs', 'dead-letters')),
  query text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null,
  primary key (tenant, name)
);
