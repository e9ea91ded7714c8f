-- What all migrations add up to. Made by "npm run schema"; do not edit.
-- The dated partitions of job, done and attempt are left out.

create schema longshore;
set search_path = longshore;

create type job_state as enum (
  'created',
  'scheduled',
  'queued',
  'running',
  'retrying',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled'
);

create table attempt (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  number integer not null,
  worker uuid not null,
  pid integer,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone not null,
  exit_code integer,
  signal text,
  peak_rss_bytes bigint,
  cpu_ms integer,
  error_code text,
  error json,
  constraint attempt_pkey PRIMARY KEY (shard, job_id, claim_no)
)
partition by RANGE (job_id);

create table dedupe (
  shard smallint not null,
  scope text not null,
  key text not null,
  job_id uuid not null,
  params_sha bytea not null,
  until timestamp with time zone,
  constraint dedupe_pkey PRIMARY KEY (shard, scope, key)
);

create table definition (
  key text not null,
  version integer not null,
  info jsonb not null,
  published_at timestamp with time zone not null default clock_timestamp(),
  constraint definition_pkey PRIMARY KEY (key, version),
  constraint definition_version_check CHECK (version > 0)
);

create table done (
  shard smallint not null,
  id uuid not null,
  lane integer not null,
  state job_state not null,
  rank integer not null,
  attempts integer not null,
  max_attempts integer not null,
  claim_no integer not null,
  interruptions integer not null,
  queued_at timestamp with time zone,
  worker uuid,
  started_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  finished_at timestamp with time zone not null,
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
  constraint done_pkey PRIMARY KEY (shard, id),
  constraint done_check CHECK (state <> 'failed'::job_state OR error_code IS NOT NULL AND error IS NOT NULL),
  constraint done_check1 CHECK (state <> 'cancelled'::job_state OR cancel_requested_at IS NOT NULL),
  constraint done_check2 CHECK (state <> 'succeeded'::job_state OR result IS NOT NULL),
  constraint done_state_check CHECK (state = ANY (ARRAY['succeeded'::job_state, 'failed'::job_state, 'cancelled'::job_state]))
)
partition by RANGE (id);
CREATE INDEX done_failed ON done USING btree (shard, lane, error_code, id) WHERE state = 'failed'::job_state;
CREATE INDEX done_unsuccessful ON done USING btree (shard, state, id) WHERE state <> 'succeeded'::job_state;

create table job (
  shard smallint not null,
  id uuid not null,
  lane integer not null,
  params json not null,
  tags text[],
  idempotency_key text,
  concurrency_key text,
  policy jsonb,
  schedule_id uuid,
  scheduled_for timestamp with time zone,
  traceparent text,
  created_at timestamp with time zone not null,
  constraint job_pkey PRIMARY KEY (shard, id)
)
partition by RANGE (id);
CREATE INDEX job_lane ON job USING btree (shard, lane, id) WHERE lane IS NOT NULL;
CREATE INDEX job_tags ON job USING gin (tags) WHERE tags IS NOT NULL;

create table lane (
  shard smallint not null,
  lane integer not null,
  tenant text not null,
  key text not null,
  version integer not null,
  dgate integer,
  tgate integer,
  paused_at timestamp with time zone,
  paused_by text,
  paused_why text,
  constraint lane_pkey PRIMARY KEY (shard, lane)
);
CREATE UNIQUE INDEX lane_name ON lane USING btree (shard, key, version, tenant) WHERE key IS NOT NULL;

create table migration (
  number integer not null,
  name text not null,
  checksum text not null,
  breaking boolean not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  constraint migration_pkey PRIMARY KEY (number)
);

create table running (
  shard smallint not null,
  id uuid not null,
  lane integer not null,
  state job_state not null,
  rank integer not null,
  kgate integer,
  expires_at timestamp with time zone,
  attempts integer not null,
  max_attempts integer not null,
  claim_no integer not null,
  interruptions integer not null,
  queued_at timestamp with time zone not null,
  worker uuid not null,
  started_at timestamp with time zone not null,
  cancel_requested_at timestamp with time zone,
  progress_fraction real,
  progress_message text,
  constraint running_pkey PRIMARY KEY (id, shard),
  constraint running_check CHECK ((state = 'cancelling'::job_state) = (cancel_requested_at IS NOT NULL)),
  constraint running_check1 CHECK (attempts > 0 AND claim_no > 0),
  constraint running_state_check CHECK (state = ANY (ARRAY['running'::job_state, 'cancelling'::job_state]))
)
with (
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  fillfactor = 70,
  vacuum_truncate = off
);
CREATE INDEX running_worker ON running USING btree (shard, worker) WHERE worker IS NOT NULL;

create table setting (
  name text not null,
  value jsonb not null,
  constraint setting_pkey PRIMARY KEY (name)
);

create table waiting (
  shard smallint not null,
  id uuid not null,
  lane integer not null,
  state job_state not null,
  rank integer not null,
  seq bigint,
  parked bigint,
  kgate integer,
  run_at timestamp with time zone,
  expires_at timestamp with time zone,
  attempts integer not null default 0,
  max_attempts integer not null,
  claim_no integer not null default 0,
  interruptions integer not null default 0,
  queued_at timestamp with time zone,
  constraint waiting_pkey PRIMARY KEY (id, shard),
  constraint waiting_check CHECK ((state = 'queued'::job_state) = (num_nonnulls(seq, parked) = 1)),
  constraint waiting_check1 CHECK ((state <> ALL (ARRAY['scheduled'::job_state, 'retrying'::job_state])) OR run_at IS NOT NULL),
  constraint waiting_check2 CHECK (state <> 'queued'::job_state OR queued_at IS NOT NULL),
  constraint waiting_check3 CHECK (attempts >= 0 AND max_attempts > 0 AND claim_no >= 0 AND interruptions >= 0),
  constraint waiting_state_check CHECK (state = ANY (ARRAY['created'::job_state, 'scheduled'::job_state, 'queued'::job_state, 'retrying'::job_state]))
)
with (
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  vacuum_truncate = off
);
CREATE INDEX waiting_due ON waiting USING btree (shard, run_at) WHERE state = ANY (ARRAY['scheduled'::job_state, 'retrying'::job_state]);
CREATE INDEX waiting_expiry ON waiting USING btree (shard, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX waiting_line ON waiting USING btree (shard, lane, rank, seq) WHERE seq IS NOT NULL;
CREATE INDEX waiting_parked ON waiting USING btree (shard, kgate, rank, parked) WHERE parked IS NOT NULL;

create table worker (
  shard smallint not null,
  instance uuid not null,
  host text not null,
  pid integer not null,
  version text not null,
  slots integer not null,
  started_at timestamp with time zone not null,
  heartbeat_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  draining_at timestamp with time zone,
  dead_at timestamp with time zone,
  constraint worker_pkey PRIMARY KEY (shard, instance)
)
with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 200,
  fillfactor = 50
);
CREATE INDEX worker_alive ON worker USING btree (shard, instance) WHERE dead_at IS NULL;

CREATE OR REPLACE FUNCTION longshore.ensure_partitions(days_ahead integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  parent text;
  made integer := 0;
  upper_bound timestamptz;
  next_bound timestamptz;
  today timestamptz := date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC';
  part text;
begin
  perform pg_advisory_xact_lock(hashtext('longshore.ensure_partitions'));
  select (value #>> '{}')::timestamptz into upper_bound
    from longshore.setting where name = 'partitioned_until';
  if upper_bound is null then
    upper_bound := today;
    foreach parent in array array['job', 'done', 'attempt'] loop
      execute format('create table longshore.%I partition of longshore.%I
        for values from (minvalue) to (%L)', parent || '_old', parent, longshore.id_floor(today));
    end loop;
    insert into longshore.setting values ('partitioned_until', to_jsonb(upper_bound));
  end if;
  while upper_bound < today + make_interval(hours => 24 * (days_ahead + 1)) loop
    next_bound := greatest(upper_bound, today) + interval '24 hours';
    foreach parent in array array['job', 'done', 'attempt'] loop
      part := parent || to_char(upper_bound at time zone 'UTC', '"_p"YYYYMMDD');
      execute format('create table longshore.%I (like longshore.%I including all)', part, parent);
      execute format('alter table longshore.%I attach partition longshore.%I
        for values from (%L) to (%L)', parent, part,
        longshore.id_floor(upper_bound), longshore.id_floor(next_bound));
    end loop;
    upper_bound := next_bound;
    made := made + 1;
  end loop;
  update longshore.setting set value = to_jsonb(upper_bound)
    where name = 'partitioned_until' and value <> to_jsonb(upper_bound);
  return made;
end $function$;

CREATE OR REPLACE FUNCTION longshore.id_floor(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid
$function$;
