-- What all migrations add up to. Made by "npm run schema"; do not edit.
-- The dated partitions are left out.

create schema longshore;
set search_path = longshore;
-- Functions are printed by name, so one may call another that comes later.
set check_function_bodies = off;

create type job_state as enum (
  'created',
  'scheduled',
  'queued',
  'running',
  'retrying',
  'suspended',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled'
);

create table alert (
  id uuid not null,
  tenant text not null,
  rule text not null,
  severity text not null default 'warning'::text,
  subject text not null,
  definition_key text,
  schedule_id uuid,
  webhook_id uuid,
  job_id uuid,
  owner text,
  runbook_url text,
  value double precision not null,
  threshold double precision not null,
  message text not null,
  fired_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  silenced_by text,
  silenced_until timestamp with time zone,
  constraint alert_pkey PRIMARY KEY (id),
  constraint alert_check CHECK (silenced_until IS NULL OR silenced_by IS NOT NULL),
  constraint alert_severity_check CHECK (severity = ANY (ARRAY['warning'::text, 'critical'::text]))
)
with (
  fillfactor = 50
);
CREATE UNIQUE INDEX alert_firing ON alert USING btree (tenant, rule, subject) WHERE resolved_at IS NULL;
CREATE INDEX alert_resolved ON alert USING btree (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX alert_seen ON alert USING btree (seen_at) WHERE resolved_at IS NULL;
CREATE INDEX alert_silenced ON alert USING btree (tenant, rule, subject, silenced_until) WHERE silenced_until IS NOT NULL;
CREATE INDEX alert_tenant ON alert USING btree (tenant, id) WHERE tenant IS NOT NULL;

create table alert_route (
  id uuid not null,
  tenant text not null,
  name text not null,
  channel text not null,
  recipients text[] not null,
  url text,
  url_host text,
  rules text[],
  owners text[],
  definition_keys text[],
  quiet_hours jsonb,
  group_seconds integer not null,
  enabled boolean not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint alert_route_tenant_name_key UNIQUE (tenant, name),
  constraint alert_route_pkey PRIMARY KEY (id),
  constraint alert_route_channel_check CHECK (channel = ANY (ARRAY['email'::text, 'slack'::text, 'discord'::text, 'teams'::text])),
  constraint alert_route_check CHECK ((channel = 'email'::text) = (url IS NULL)),
  constraint alert_route_check1 CHECK ((channel = 'email'::text) = (cardinality(recipients) > 0)),
  constraint alert_route_definition_keys_check CHECK (cardinality(definition_keys) > 0),
  constraint alert_route_group_seconds_check CHECK (group_seconds >= 0),
  constraint alert_route_owners_check CHECK (cardinality(owners) > 0),
  constraint alert_route_rules_check CHECK (cardinality(rules) > 0)
);

create table alert_route_notice (
  route_id uuid not null,
  alert_id uuid not null,
  due_at timestamp with time zone,
  notified_at timestamp with time zone,
  held boolean not null default false,
  constraint alert_route_notice_pkey PRIMARY KEY (route_id, alert_id),
  constraint alert_route_notice_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES alert(id) ON DELETE CASCADE,
  constraint alert_route_notice_route_id_fkey FOREIGN KEY (route_id) REFERENCES alert_route(id) ON DELETE CASCADE
);
CREATE INDEX alert_route_notice_alert ON alert_route_notice USING btree (alert_id) WHERE alert_id IS NOT NULL;
CREATE INDEX alert_route_notice_due ON alert_route_notice USING btree (due_at) WHERE due_at IS NOT NULL;

create table alert_rule (
  tenant text not null,
  rule text not null,
  definition_key text not null default ''::text,
  threshold double precision,
  window_seconds integer,
  enabled boolean,
  severity text,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint alert_rule_pkey PRIMARY KEY (tenant, rule, definition_key),
  constraint alert_rule_severity_check CHECK (severity = ANY (ARRAY['warning'::text, 'critical'::text])),
  constraint alert_rule_threshold_check CHECK (threshold > 0::double precision),
  constraint alert_rule_window_seconds_check CHECK (window_seconds > 0)
);

create table api_key (
  id text not null,
  tenant text not null,
  name text not null,
  scopes text[] not null,
  secret_hash bytea not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  successor text,
  definitions text[],
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_id_check CHECK (id ~ '^[0-9a-f]{16}$'::text),
  constraint api_key_scopes_check CHECK (cardinality(scopes) > 0),
  constraint api_key_secret_hash_check CHECK (octet_length(secret_hash) = 32)
);
CREATE INDEX api_key_tenant ON api_key USING btree (tenant, id) WHERE tenant IS NOT NULL;

create table artifact (
  tenant text not null,
  sha256 text not null,
  format text not null,
  bytes bigint not null,
  manifest jsonb,
  signature jsonb,
  created_by text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  removed_at timestamp with time zone,
  constraint artifact_pkey PRIMARY KEY (tenant, sha256),
  constraint artifact_bytes_check CHECK (bytes > 0),
  constraint artifact_format_check CHECK (format = ANY (ARRAY['tar.gz'::text, 'zip'::text])),
  constraint artifact_sha256_check CHECK (sha256 ~ '^[0-9a-f]{64}$'::text)
);

create table attempt (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  number integer not null,
  worker uuid,
  pid integer,
  started_at timestamp with time zone,
  finished_at timestamp with time zone not null,
  exit_code integer,
  signal text,
  peak_rss_bytes bigint,
  cpu_ms integer,
  error_code text,
  error json,
  queued_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  next job_state,
  run_at timestamp with time zone,
  fingerprint text,
  retried json,
  cancel_requested_by text,
  waits_for text,
  constraint attempt_pkey PRIMARY KEY (shard, job_id, claim_no)
)
partition by RANGE (job_id);
CREATE INDEX attempt_retried ON attempt USING btree (shard, finished_at) WHERE next = 'retrying'::job_state;

create table audit (
  id uuid not null,
  at timestamp with time zone not null default clock_timestamp(),
  tenant text not null,
  actor text not null,
  action text not null,
  subject text not null,
  before json,
  after json,
  address text,
  constraint audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_subject ON audit USING btree (tenant, subject, id) WHERE subject IS NOT NULL;
CREATE INDEX audit_tenant ON audit USING btree (tenant, id) WHERE tenant IS NOT NULL;

create table budget (
  tenant text not null,
  name text not null,
  definition_key text,
  measure text not null,
  period text not null,
  amount double precision not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  updated_by text not null,
  constraint budget_pkey PRIMARY KEY (tenant, name),
  constraint budget_amount_check CHECK (amount > 0::double precision),
  constraint budget_measure_check CHECK (measure = ANY (ARRAY['cpuSeconds'::text, 'runSeconds'::text, 'jobs'::text])),
  constraint budget_period_check CHECK (period = ANY (ARRAY['day'::text, 'month'::text]))
);

create table bulk (
  id uuid not null,
  tenant text not null,
  action text not null,
  filter jsonb not null,
  how jsonb not null,
  status text not null default 'running'::text,
  before timestamp with time zone not null,
  matched integer not null,
  matched_exactly boolean not null,
  at_shard smallint not null default 0,
  after_id uuid,
  changed integer not null default 0,
  skipped integer not null default 0,
  failed integer not null default 0,
  note text,
  next_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint bulk_pkey PRIMARY KEY (id),
  constraint bulk_action_check CHECK (action = ANY (ARRAY['cancel'::text, 'retry'::text, 'delete'::text])),
  constraint bulk_matched_check CHECK (matched >= 0),
  constraint bulk_status_check CHECK (status = ANY (ARRAY['running'::text, 'finished'::text, 'aborted'::text]))
);
CREATE INDEX bulk_due ON bulk USING btree (next_at) WHERE status = 'running'::text;
CREATE INDEX bulk_tenant ON bulk USING btree (tenant, id) WHERE tenant IS NOT NULL;

create table counter (
  shard smallint not null,
  queue integer not null,
  was job_state,
  state job_state,
  code text,
  attempt smallint,
  n bigint not null
)
with (
  fillfactor = 50
);
CREATE UNIQUE INDEX counter_move ON counter USING btree (shard, queue, was, state, code, attempt) NULLS NOT DISTINCT;

create table counter_delta (
  at timestamp with time zone not null default clock_timestamp(),
  ms double precision,
  queue integer not null,
  n integer not null,
  timed integer not null default 0,
  was job_state,
  state job_state,
  shard smallint not null,
  attempt smallint,
  bucket smallint,
  code text,
  cpu_ms bigint,
  peak_rss_bytes bigint
)
with (
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  vacuum_truncate = off
);
CREATE INDEX counter_delta_at ON counter_delta USING btree (shard, at);

create table counter_hour (
  shard smallint not null,
  queue integer not null,
  hour timestamp with time zone not null,
  waited boolean not null,
  bucket smallint not null,
  n bigint not null,
  constraint counter_hour_pkey PRIMARY KEY (shard, queue, hour, waited, bucket)
);

create table counter_rollup (
  shard smallint not null,
  at timestamp with time zone not null,
  constraint counter_rollup_pkey PRIMARY KEY (shard)
)
with (
  fillfactor = 50
);

create table counter_series (
  shard smallint not null,
  minutes smallint not null,
  tenant text not null,
  key text not null,
  slot timestamp with time zone not null,
  enqueued integer not null,
  started integer not null,
  succeeded integer not null,
  failed integer not null,
  cancelled integer not null,
  retried integer not null,
  deeper integer not null,
  waited jsonb not null,
  ran jsonb not null,
  constraint counter_series_pkey PRIMARY KEY (shard, tenant, key, minutes, slot)
)
with (
  fillfactor = 50
);

create table counter_span (
  shard smallint not null,
  queue integer not null,
  slot timestamp with time zone not null,
  state job_state not null,
  bucket smallint not null,
  n bigint not null,
  ms double precision not null,
  constraint counter_span_pkey PRIMARY KEY (shard, queue, slot, state, bucket)
)
with (
  fillfactor = 50
);

create table dedupe (
  shard smallint not null,
  scope text not null,
  key text not null,
  job_id uuid not null,
  params_sha bytea not null,
  constraint dedupe_pkey PRIMARY KEY (shard, scope, key)
);

create table definition (
  key text not null,
  version integer not null,
  info jsonb not null,
  params_schema json,
  codes jsonb not null default '[]'::jsonb,
  published_at timestamp with time zone not null default clock_timestamp(),
  tenant text not null default 'default'::text,
  deployment integer,
  constraint definition_pkey PRIMARY KEY (key, version),
  constraint definition_check CHECK (deployment = version),
  constraint definition_version_check CHECK (version > 0)
);

create table deployment (
  number integer not null,
  tenant text not null,
  sha256 text not null,
  keys text[] not null,
  manifest jsonb not null,
  note text,
  revision text,
  created_by text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  retired_at timestamp with time zone,
  load_problem text,
  load_problem_at timestamp with time zone,
  constraint deployment_pkey PRIMARY KEY (number),
  constraint deployment_tenant_sha256_fkey FOREIGN KEY (tenant, sha256) REFERENCES artifact(tenant, sha256)
);

create table done (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state job_state not null,
  rank integer not null,
  attempts integer not null,
  max_attempts integer,
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
  cancel_requested_by text,
  constraint done_pkey PRIMARY KEY (shard, id),
  constraint done_check CHECK (state <> 'failed'::job_state OR error_code IS NOT NULL AND error IS NOT NULL),
  constraint done_check1 CHECK (state <> 'cancelled'::job_state OR cancel_requested_at IS NOT NULL),
  constraint done_check2 CHECK (state <> 'succeeded'::job_state OR result IS NOT NULL),
  constraint done_state_check CHECK (state = ANY (ARRAY['succeeded'::job_state, 'failed'::job_state, 'cancelled'::job_state]))
)
partition by RANGE (id);
CREATE INDEX done_code ON done USING btree (shard, queue, error_code, id) WHERE error_code IS NOT NULL;
CREATE INDEX done_dead ON done USING btree (shard, queue, finished_at, id) WHERE state = 'failed'::job_state AND error_code IS NOT NULL;
CREATE INDEX done_fingerprint ON done USING btree (shard, queue, fingerprint, finished_at, id) WHERE state = 'failed'::job_state AND fingerprint IS NOT NULL;
CREATE INDEX done_unsuccessful ON done USING btree (shard, queue, state, id) WHERE state <> 'succeeded'::job_state;

create table edge (
  shard smallint not null,
  job_id uuid not null,
  kind text not null,
  "position" integer not null,
  on_shard smallint not null,
  on_id uuid not null,
  on_failure text not null,
  ended job_state,
  name text,
  asked text,
  constraint edge_pkey PRIMARY KEY (shard, job_id, kind, "position"),
  constraint edge_check CHECK ((kind = 'child'::text) = (name IS NOT NULL) AND (kind = 'child'::text) = (asked IS NOT NULL)),
  constraint edge_ended_check CHECK (ended = ANY (ARRAY['succeeded'::job_state, 'failed'::job_state, 'cancelled'::job_state])),
  constraint edge_kind_check CHECK (kind = ANY (ARRAY['after'::text, 'child'::text])),
  constraint edge_on_failure_check CHECK (on_failure = ANY (ARRAY['fail'::text, 'run'::text, 'cancel'::text]))
)
partition by RANGE (job_id);
CREATE UNIQUE INDEX edge_child ON edge USING btree (shard, job_id, name) WHERE name IS NOT NULL;
CREATE INDEX edge_on ON edge USING btree (on_shard, on_id, ended) WHERE on_id IS NOT NULL;
CREATE INDEX edge_open_child ON edge USING btree (shard, job_id) WHERE kind = 'child'::text AND ended IS NULL;

create table ended_watched (
  shard smallint not null,
  id uuid not null,
  state job_state,
  revived_to uuid,
  constraint ended_watched_check CHECK ((state IS NULL) = (revived_to IS NOT NULL))
)
with (
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  vacuum_truncate = off
);
CREATE INDEX ended_watched_next ON ended_watched USING btree (shard, id) WHERE state IS NOT NULL;
CREATE INDEX ended_watched_revived ON ended_watched USING btree (shard, id) WHERE state IS NULL;

create table event (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  n integer not null,
  attempt integer not null,
  type text not null,
  cancelling boolean not null,
  at timestamp with time zone not null,
  payload json not null,
  constraint event_pkey PRIMARY KEY (shard, job_id, claim_no, n),
  constraint event_type_check CHECK (type = ANY (ARRAY['progress'::text, 'step'::text, 'custom'::text, 'hook'::text]))
)
partition by RANGE (job_id);

create table job (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  params json not null,
  tags text[],
  idempotency_key text,
  concurrency_key text,
  policy jsonb,
  schedule_id uuid,
  scheduled_for timestamp with time zone,
  traceparent text,
  created_at timestamp with time zone not null,
  parent_id uuid,
  hook text,
  constraint job_pkey PRIMARY KEY (shard, id)
)
partition by RANGE (id);
CREATE INDEX job_parent ON job USING btree (shard, parent_id, id) WHERE parent_id IS NOT NULL;
CREATE INDEX job_queue ON job USING btree (shard, queue, id) WHERE queue IS NOT NULL;
CREATE INDEX job_tags ON job USING gin (tags) WHERE tags IS NOT NULL;

create table large_value (
  shard smallint not null,
  job_id uuid not null,
  name text not null,
  tenant text not null,
  kind text not null,
  bytes bigint not null,
  key_id text,
  written_at timestamp with time zone not null,
  constraint large_value_pkey PRIMARY KEY (shard, job_id, name),
  constraint large_value_bytes_check CHECK (bytes > 0),
  constraint large_value_kind_check CHECK (kind = ANY (ARRAY['params'::text, 'result'::text]))
);
CREATE INDEX large_value_params ON large_value USING btree (shard, tenant, job_id) WHERE kind = 'params'::text;

create table limit_override (
  scope text not null,
  name text not null,
  limits jsonb not null,
  changed_by text,
  changed_at timestamp with time zone not null,
  constraint limit_override_pkey PRIMARY KEY (scope, name),
  constraint limit_override_scope_check CHECK (scope = ANY (ARRAY['definition'::text, 'tenant'::text]))
);

create table limiter (
  shard smallint not null,
  limiter bigint not null,
  name text,
  definition bigint,
  lim integer,
  rate jsonb,
  key_lim integer,
  key_rate jsonb,
  in_use integer not null default 0,
  blocked integer not null default 0,
  tokens double precision,
  refilled_at timestamp with time zone,
  next_at timestamp with time zone,
  adopt_until timestamp with time zone,
  constraint limiter_pkey PRIMARY KEY (limiter, shard),
  constraint limiter_check CHECK ((name IS NULL) = (definition IS NOT NULL)),
  constraint limiter_key_lim_check CHECK (key_lim > 0),
  constraint limiter_lim_check CHECK (lim > 0)
)
with (
  autovacuum_vacuum_scale_factor = 0.1,
  autovacuum_vacuum_threshold = 200,
  fillfactor = 50
);
CREATE INDEX limiter_adopting ON limiter USING btree (shard, adopt_until) WHERE adopt_until IS NOT NULL;
CREATE INDEX limiter_blocked ON limiter USING btree (shard, limiter) WHERE blocked > 0;
CREATE INDEX limiter_next ON limiter USING btree (shard, next_at) WHERE next_at IS NOT NULL;

create table log_chunk (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  n integer not null,
  attempt integer not null,
  line_count integer not null,
  at timestamp with time zone not null,
  data bytea not null,
  constraint log_chunk_pkey PRIMARY KEY (shard, job_id, claim_no, n),
  constraint log_chunk_line_count_check CHECK (line_count > 0)
)
partition by RANGE (job_id);
alter table log_chunk alter column data set storage external;

create table migration (
  number integer not null,
  name text not null,
  checksum text not null,
  breaking boolean not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  constraint migration_pkey PRIMARY KEY (number)
);

create table pause (
  scope text not null,
  name text not null,
  paused_by text,
  reason text,
  paused_at timestamp with time zone not null,
  constraint pause_pkey PRIMARY KEY (scope, name),
  constraint pause_check CHECK ((scope = 'all'::text) = (name = ''::text)),
  constraint pause_scope_check CHECK (scope = ANY (ARRAY['all'::text, 'tenant'::text, 'definition'::text]))
);

create table queue (
  shard smallint not null,
  queue integer not null,
  tenant text not null,
  key text not null,
  version integer not null,
  paused_at timestamp with time zone,
  resumed_at timestamp with time zone,
  definition_limiter bigint,
  tenant_limiter bigint,
  keyed boolean not null default false,
  subscribed_states job_state[],
  plain boolean not null generated always as (((num_nonnulls(paused_at, definition_limiter, tenant_limiter) = 0) AND COALESCE(('running'::job_state <> ALL (subscribed_states)), true))) stored,
  constraint queue_pkey PRIMARY KEY (shard, queue)
);
CREATE UNIQUE INDEX queue_name ON queue USING btree (shard, key, version, tenant) WHERE key IS NOT NULL;

create table release (
  tenant text not null,
  key text not null,
  current integer not null,
  previous integer,
  canary integer,
  canary_percent real,
  changed_by text not null,
  changed_at timestamp with time zone not null default clock_timestamp(),
  reason text,
  constraint release_pkey PRIMARY KEY (tenant, key),
  constraint release_canary_fkey FOREIGN KEY (canary) REFERENCES deployment(number),
  constraint release_current_fkey FOREIGN KEY (current) REFERENCES deployment(number),
  constraint release_previous_fkey FOREIGN KEY (previous) REFERENCES deployment(number),
  constraint release_canary_percent_check CHECK (canary_percent > 0::double precision AND canary_percent < 100::double precision),
  constraint release_check CHECK ((canary IS NULL) = (canary_percent IS NULL))
);

create table revived (
  shard smallint not null,
  id uuid not null
);

create table running (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state job_state not null,
  rank integer not null,
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
  key_limiter bigint,
  permits bigint[],
  cancel_requested_by text,
  fails_unserved boolean,
  watched boolean,
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

create table saved_view (
  tenant text not null,
  name text not null,
  screen text not null,
  query text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  updated_by text not null,
  constraint saved_view_pkey PRIMARY KEY (tenant, name),
  constraint saved_view_screen_check CHECK (screen = ANY (ARRAY['jobs'::text, 'dead-letters'::text]))
);

create table schedule (
  shard smallint not null,
  id uuid not null,
  bucket smallint not null,
  tenant text not null,
  name text,
  source text not null,
  definition_key text not null,
  definition_version integer,
  params json not null,
  params_shape integer not null,
  priority integer not null,
  enabled boolean not null,
  note text,
  cron text not null,
  timezone text not null,
  start_at timestamp with time zone,
  end_at timestamp with time zone,
  jitter_ms integer not null,
  dst_gap text not null,
  dst_repeat text not null,
  catch_up text not null,
  catch_up_window_ms bigint not null,
  catch_up_max integer not null,
  overlap text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  last_enqueued_at timestamp with time zone,
  next_at timestamp with time zone,
  next_local timestamp without time zone,
  held_at timestamp with time zone,
  held_local timestamp without time zone,
  check_at timestamp with time zone,
  recent_jobs uuid[] not null default '{}'::uuid[],
  new_slots integer not null default 0,
  paused_at timestamp with time zone,
  paused_by text,
  pause_reason text,
  constraint schedule_pkey PRIMARY KEY (id, shard),
  constraint schedule_bucket_check CHECK (bucket >= 0 AND bucket <= 63),
  constraint schedule_catch_up_check CHECK (catch_up = ANY (ARRAY['none'::text, 'latest'::text, 'all'::text])),
  constraint schedule_catch_up_max_check CHECK (catch_up_max > 0),
  constraint schedule_catch_up_window_ms_check CHECK (catch_up_window_ms >= 0),
  constraint schedule_check CHECK ((next_at IS NULL) = (next_local IS NULL)),
  constraint schedule_check1 CHECK ((held_at IS NULL) = (held_local IS NULL)),
  constraint schedule_check2 CHECK (enabled OR num_nonnulls(next_at, held_at, check_at) = 0),
  constraint schedule_check3 CHECK (NOT enabled OR num_nonnulls(paused_at, paused_by, pause_reason) = 0),
  constraint schedule_definition_version_check CHECK (definition_version > 0),
  constraint schedule_dst_gap_check CHECK (dst_gap = ANY (ARRAY['shift'::text, 'skip'::text])),
  constraint schedule_dst_repeat_check CHECK (dst_repeat = ANY (ARRAY['once'::text, 'twice'::text])),
  constraint schedule_jitter_ms_check CHECK (jitter_ms >= 0),
  constraint schedule_overlap_check CHECK (overlap = ANY (ARRAY['allow'::text, 'skip'::text, 'queue-one'::text])),
  constraint schedule_params_shape_check CHECK (params_shape > 0),
  constraint schedule_source_check CHECK (source = ANY (ARRAY['api'::text, 'code'::text]))
)
with (
  autovacuum_vacuum_scale_factor = 0.05,
  fillfactor = 70
);
CREATE INDEX schedule_check ON schedule USING btree (shard, bucket, check_at) WHERE check_at IS NOT NULL;
CREATE INDEX schedule_crowded ON schedule USING btree (shard, new_slots) WHERE new_slots >= 500;
CREATE UNIQUE INDEX schedule_name ON schedule USING btree (shard, tenant, definition_key, name) WHERE name IS NOT NULL;
CREATE INDEX schedule_tenant ON schedule USING btree (shard, tenant, id) WHERE tenant IS NOT NULL;

create table scheduler (
  instance uuid not null,
  host text not null,
  pid integer not null,
  version text not null,
  started_at timestamp with time zone not null,
  heartbeat_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  constraint scheduler_pkey PRIMARY KEY (instance)
)
with (
  fillfactor = 50
);

create table secret (
  id uuid not null,
  tenant text not null,
  key text not null,
  name text not null,
  value text not null,
  bytes integer not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  updated_by text not null,
  constraint secret_pkey PRIMARY KEY (id),
  constraint secret_bytes_check CHECK (bytes > 0),
  constraint secret_value_check CHECK (value ~~ '{"$sealed":"%'::text)
);
CREATE UNIQUE INDEX secret_name ON secret USING btree (tenant, key, name) WHERE name IS NOT NULL;

create table session (
  id_hash bytea not null,
  tenant text not null,
  key_id text,
  issuer text,
  subject text,
  user_name text,
  email text,
  scopes text[],
  address text,
  user_agent text,
  created_at timestamp with time zone not null default clock_timestamp(),
  seen_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone not null,
  constraint session_pkey PRIMARY KEY (id_hash),
  constraint session_check CHECK (num_nonnulls(issuer, subject, scopes) =
CASE
    WHEN key_id IS NULL THEN 3
    ELSE 0
END),
  constraint session_id_hash_check CHECK (octet_length(id_hash) = 32),
  constraint session_scopes_check CHECK (cardinality(scopes) > 0)
);
CREATE INDEX session_expiry ON session USING btree (expires_at) WHERE expires_at IS NOT NULL;

create table setting (
  name text not null,
  value jsonb not null,
  constraint setting_pkey PRIMARY KEY (name)
);

create table slot (
  shard smallint not null,
  schedule_id uuid not null,
  slot_at timestamp with time zone not null,
  local timestamp without time zone not null,
  status text not null,
  reason text,
  through timestamp with time zone,
  job_id uuid,
  constraint slot_pkey PRIMARY KEY (shard, schedule_id, slot_at, local),
  constraint slot_check CHECK ((status = 'fired'::text) = (job_id IS NOT NULL)),
  constraint slot_check1 CHECK (status = 'fired'::text OR reason IS NOT NULL),
  constraint slot_status_check CHECK (status = ANY (ARRAY['fired'::text, 'skipped'::text, 'collapsed'::text]))
);
CREATE INDEX slot_missed ON slot USING btree (shard, slot_at) WHERE status = 'skipped'::text AND (reason = ANY (ARRAY['missed'::text, 'catch_up_window'::text, 'catch_up_max'::text]));

create table spread (
  key text not null,
  steps jsonb not null default '[]'::jsonb,
  asked integer,
  constraint spread_pkey PRIMARY KEY (key),
  constraint spread_asked_check CHECK (asked > 0)
);

create table step (
  shard smallint not null,
  job_id uuid not null,
  name text not null,
  claim_no integer not null,
  duration_ms integer,
  at timestamp with time zone not null,
  value json not null,
  constraint step_pkey PRIMARY KEY (shard, job_id, name)
)
partition by RANGE (job_id);

create table stream_chunk (
  shard smallint not null,
  job_id uuid not null,
  n integer not null,
  claim_no integer not null,
  attempt integer not null,
  data text not null,
  constraint stream_chunk_pkey PRIMARY KEY (shard, job_id, n)
)
partition by RANGE (job_id);

create table tenant (
  name text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  weight smallint not null default 1,
  constraint tenant_pkey PRIMARY KEY (name),
  constraint tenant_name_check CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text),
  constraint tenant_weight_check CHECK (weight >= 1 AND weight <= 1000)
);

create table usage_day (
  shard smallint not null,
  day date not null,
  tenant text not null,
  key text not null,
  jobs bigint not null,
  attempts bigint not null,
  run_ms double precision not null,
  cpu_ms bigint not null,
  peak_rss_bytes bigint,
  constraint usage_day_pkey PRIMARY KEY (shard, day, tenant, key)
)
with (
  fillfactor = 50
);

create table waiting (
  shard smallint not null,
  id uuid not null,
  queue integer not null,
  state job_state not null,
  rank integer not null,
  seq bigint,
  blocked bigint,
  run_at timestamp with time zone,
  expires_at timestamp with time zone,
  attempts integer not null default 0,
  max_attempts integer,
  claim_no integer not null default 0,
  interruptions integer not null default 0,
  queued_at timestamp with time zone,
  key_limiter bigint,
  has_permit boolean not null default false,
  fails_unserved boolean,
  waits_for text,
  watched boolean,
  constraint waiting_pkey PRIMARY KEY (id, shard),
  constraint waiting_check CHECK ((state = 'suspended'::job_state) = (waits_for IS NOT NULL)),
  constraint waiting_check1 CHECK ((state = 'queued'::job_state) = (num_nonnulls(seq, blocked) = 1)),
  constraint waiting_check2 CHECK ((state <> ALL (ARRAY['scheduled'::job_state, 'retrying'::job_state, 'suspended'::job_state])) OR run_at IS NOT NULL OR "left"(waits_for, 1) = ':'::text),
  constraint waiting_check3 CHECK (state <> 'queued'::job_state OR queued_at IS NOT NULL),
  constraint waiting_check4 CHECK (attempts >= 0 AND max_attempts > 0 AND claim_no >= 0 AND interruptions >= 0),
  constraint waiting_check5 CHECK (NOT has_permit OR key_limiter IS NOT NULL AND state = 'queued'::job_state AND blocked IS NULL),
  constraint waiting_check6 CHECK (blocked IS NULL OR key_limiter IS NOT NULL),
  constraint waiting_state_check CHECK (state = ANY (ARRAY['created'::job_state, 'scheduled'::job_state, 'queued'::job_state, 'retrying'::job_state, 'suspended'::job_state]))
)
with (
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  vacuum_truncate = off
);
CREATE INDEX waiting_blocked ON waiting USING btree (shard, key_limiter, rank, blocked) WHERE blocked IS NOT NULL;
CREATE INDEX waiting_blocked_oldest ON waiting USING btree (shard, queue, queued_at) WHERE blocked IS NOT NULL;
CREATE INDEX waiting_cause ON waiting USING btree (shard, waits_for COLLATE "C") WHERE waits_for IS NOT NULL;
CREATE INDEX waiting_claimable ON waiting USING btree (shard, queue, rank, seq) WHERE seq IS NOT NULL;
CREATE INDEX waiting_due ON waiting USING btree (shard, run_at, id) WHERE state = ANY (ARRAY['scheduled'::job_state, 'retrying'::job_state, 'suspended'::job_state]);
CREATE INDEX waiting_expiry ON waiting USING btree (shard, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX waiting_permitted ON waiting USING btree (shard, key_limiter) WHERE has_permit;
CREATE INDEX waiting_tried ON waiting USING btree (shard, queue, id) WHERE claim_no > 0;
CREATE INDEX waiting_unserved ON waiting USING btree (shard, queue, queued_at) WHERE fails_unserved AND state = 'queued'::job_state;
CREATE INDEX waiting_without_permit ON waiting USING btree (shard, queue, seq) WHERE key_limiter IS NOT NULL AND seq IS NOT NULL AND NOT has_permit;

create table webhook (
  id uuid not null,
  tenant text not null,
  url text not null,
  format text not null default 'cloudevents'::text,
  description text,
  events text[] not null,
  definition_keys text[],
  tags text[],
  status text not null default 'active'::text,
  notice text,
  secret text not null,
  previous_secret text,
  previous_until timestamp with time zone,
  failures integer not null default 0,
  failing_since timestamp with time zone,
  last_error text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_check CHECK ((failures = 0) = (failing_since IS NULL)),
  constraint webhook_check1 CHECK (failures > 0 OR last_error IS NULL),
  constraint webhook_definition_keys_check CHECK (cardinality(definition_keys) > 0),
  constraint webhook_events_check CHECK (cardinality(events) > 0),
  constraint webhook_status_check CHECK (status = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])),
  constraint webhook_tags_check CHECK (cardinality(tags) > 0)
)
with (
  fillfactor = 50
);
CREATE INDEX webhook_active ON webhook USING btree (tenant) WHERE status = 'active'::text;
CREATE INDEX webhook_failing ON webhook USING btree (failing_since) WHERE failing_since IS NOT NULL AND status = 'active'::text;
CREATE INDEX webhook_tenant ON webhook USING btree (tenant, id) WHERE tenant IS NOT NULL;

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
  contact_ms integer,
  suspected_at timestamp with time zone,
  ended_by text,
  definitions text[] not null default '{}'::text[],
  not_loaded text[] not null default '{}'::text[],
  tenant text,
  key_id text,
  address text,
  turn_at timestamp with time zone,
  constraint worker_pkey PRIMARY KEY (shard, instance),
  constraint worker_contact_ms_check CHECK (contact_ms > 0)
)
with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 200,
  fillfactor = 50
);
CREATE INDEX worker_alive ON worker USING btree (shard, instance) WHERE dead_at IS NULL;

CREATE OR REPLACE FUNCTION longshore.add_partition(parent text, suffix text, lower_id uuid, upper_id uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('create table longshore.%I (like longshore.%I including all)',
    parent || suffix, parent);
  execute format('alter table longshore.%I attach partition longshore.%I
    for values from (%s) to (%L)', parent, parent || suffix,
    coalesce(quote_literal(lower_id), 'minvalue'), upper_id);
end $function$;

CREATE OR REPLACE FUNCTION longshore.audit_is_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' and old.at < clock_timestamp() - interval '30 days' then
    return old;
  end if;
  raise exception 'longshore.audit is append-only' using errcode = 'insufficient_privilege';
end $function$;

CREATE OR REPLACE FUNCTION longshore.canonical_json(value jsonb, depth integer DEFAULT 1)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.check_fields(of_part text, at text, value jsonb)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.check_list(at text, value jsonb, low numeric, high numeric, kind text, entry_low numeric, entry_high numeric)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.check_request(request jsonb)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.checked_params(value jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.clean_kept(retention_days integer, dead_letter_days integer, batch integer, at timestamp with time zone DEFAULT clock_timestamp())
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'on'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.copy_kept(low uuid, high uuid, keep_since timestamp with time zone, dead_since timestamp with time zone, hot_since timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.copy_late(low uuid, high uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.default_attempts(of_shard smallint, of_queue integer)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce((
    select (d.info ->> 'maxAttempts')::integer
    from longshore.queue q join longshore.definition d on d.key = q.key and d.version = q.version
    where q.shard = of_shard and q.queue = of_queue), 3)
$function$;

CREATE OR REPLACE FUNCTION longshore.drop_oldest(retention_days integer, dead_letter_days integer, at timestamp with time zone DEFAULT clock_timestamp(), small_bytes bigint DEFAULT 67108864)
 RETURNS TABLE(dropped text, kept bigint, lock_ms double precision)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'on'
 SET plan_cache_mode TO 'force_custom_plan'
 SET lock_timeout TO '3s'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.enqueue(request jsonb)
 RETURNS TABLE(job_id uuid, status text, created boolean)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET "TimeZone" TO 'UTC'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.ensure_partitions(days_ahead integer, at timestamp with time zone DEFAULT clock_timestamp())
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.expired_partitions(before uuid, small_bytes bigint)
 RETURNS TABLE(suffix text, lower_id uuid, upper_id uuid)
 LANGUAGE plpgsql
 STABLE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.find_or_create_queue(of_shard smallint, of_key text, of_version integer, of_tenant text)
 RETURNS queue
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.follow_release(of_shard smallint, of_ids uuid[])
 RETURNS TABLE(moved_id uuid, version_before integer)
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.hash_of(value text)
 RETURNS bigint
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  text_bytes bytea := convert_to(value, 'UTF8');
  hash bigint := 2166136261;
begin
  for n in 0 .. octet_length(text_bytes) - 1 loop
    hash := ((hash # get_byte(text_bytes, n)) * 16777619) & 4294967295;
  end loop;
  return hash;
end $function$;

CREATE OR REPLACE FUNCTION longshore.history_bytes(suffix text)
 RETURNS numeric
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (
    select coalesce(sum(pg_total_relation_size(to_regclass('longshore.' || t.name || suffix))), 0)
    from longshore.partitioned_tables() t);
end $function$;

CREATE OR REPLACE FUNCTION longshore.holder_job(of_id uuid)
 RETURNS TABLE(state job_state, queue integer, untouched boolean, age_ms double precision)
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.home_shard(tenant text, definition_key text)
 RETURNS smallint
 LANGUAGE sql
 STABLE
AS $function$
  select (longshore.hash_of(tenant || E'\n' || definition_key)
    % (select value::text::bigint from longshore.setting where name = 'shards'))::smallint
$function$;

CREATE OR REPLACE FUNCTION longshore.id_floor(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid
$function$;

CREATE OR REPLACE FUNCTION longshore.id_time(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$function$;

CREATE OR REPLACE FUNCTION longshore.in_long_use(tables text[])
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select 1 from pg_locks l join pg_stat_activity a using (pid)
    where l.relation = any (select format('longshore.%I', t)::regclass from unnest(tables) t)
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - interval '5 s' and a.pid <> pg_backend_pid())
$function$;

CREATE OR REPLACE FUNCTION longshore.instant_of(value text)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  moment timestamptz;
begin
  if value !~ '^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$'
  then return null; end if;
  moment := date_trunc('milliseconds', value::timestamptz);
  return case when moment >= 'epoch' then moment end;
exception when datetime_field_overflow or invalid_datetime_format or invalid_time_zone_displacement_value
  then return null;
end $function$;

CREATE OR REPLACE FUNCTION longshore.job_events()
 RETURNS TABLE(event text, state job_state)
 LANGUAGE sql
 IMMUTABLE
AS $function$
  values ('job.started', 'running'::longshore.job_state), ('job.retrying', 'retrying'),
    ('job.succeeded', 'succeeded'), ('job.failed', 'failed'), ('job.cancelled', 'cancelled'),
    ('job.finished', 'succeeded'), ('job.finished', 'failed'), ('job.finished', 'cancelled')
$function$;

CREATE OR REPLACE FUNCTION longshore.json_number(value numeric)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET extra_float_digits TO '1'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.key_shard(kind text, tenant text, definition_key text, key text)
 RETURNS smallint
 LANGUAGE sql
 STABLE
AS $function$
  select case when s.shards = 1 then 0 else
    longshore.hash_of(concat_ws(E'\n', kind, tenant, definition_key, key)) % s.shards end::smallint
  from (select value::text::bigint as shards from longshore.setting where name = 'shards') s
$function$;

CREATE OR REPLACE FUNCTION longshore.limiter_of(kind text, name text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select ('x' || encode(substr(sha256(convert_to(kind || E'\n' || name, 'UTF8')), 1, 8), 'hex'))
    ::bit(64)::bigint & 2305843009213693951
    | case kind when 'key' then 4611686018427387904 else 0 end
$function$;

CREATE OR REPLACE FUNCTION longshore.limits_of_queue(of_shard smallint, of_key text, of_tenant text)
 RETURNS TABLE(definition_limiter bigint, tenant_limiter bigint, keyed boolean)
 LANGUAGE plpgsql
 STABLE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.lock_history(tables text[])
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 SET lock_timeout TO '150ms'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.lock_queues()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  lock table longshore.queue in share row exclusive mode;
end $function$;

CREATE OR REPLACE FUNCTION longshore.meet_holder(of_shard smallint, of_scope text, of_key text, of_id uuid, of_queue queue, unique_request jsonb, new_params text, new_shape jsonb, new_sha bytea, new_rank integer, new_run_at timestamp with time zone, new_expires_at timestamp with time zone, at timestamp with time zone)
 RETURNS TABLE(job_id uuid, state job_state)
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.new_delivery(of_shard smallint, of_queue integer, webhook uuid, event text, of_job uuid, at timestamp with time zone, state job_state, attempts integer, run_at timestamp with time zone, error json)
 RETURNS uuid
 LANGUAGE plpgsql
AS $function$
declare
  made uuid := longshore.new_job_id(of_shard);
begin
  insert into longshore.job (shard, id, queue, params, parent_id, hook, created_at)
  values (of_shard, made, of_queue, json_build_object('webhookId', webhook, 'event', event,
    'jobId', of_job, 'at', at, 'status', state, 'attempts', attempts, 'runAt', run_at,
    'error', error), webhook, event, at);
  return made;
end $function$;

CREATE OR REPLACE FUNCTION longshore.new_job_id(shard smallint)
 RETURNS uuid
 LANGUAGE sql
AS $function$
  select (lpad(to_hex(micros / 1000), 12, '0') || '7' || lpad(to_hex(micros % 1000 * 4), 3, '0')
    || substr(chance, 17, 13) || lpad(to_hex(shard::integer), 3, '0'))::uuid
  from (
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros,
      replace(gen_random_uuid()::text, '-', '') as chance
  ) now
$function$;

CREATE OR REPLACE FUNCTION longshore.notify_job(of_shard smallint, of_queue integer, of_rank integer, of_state job_state, due_in_ms double precision)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if of_state = 'queued' then
    perform pg_notify('longshore_wake', format('%s:%s:%s', of_shard, of_queue, of_rank));
  elsif of_state = 'scheduled' and due_in_ms < (
      select case when s.value = '1' then 5000 else 60000 end
      from longshore.setting s where s.name = 'shards') then
    perform pg_notify('longshore_due',
      format('jobs:%s:%s', greatest(0, round(due_in_ms)), of_shard));
  end if;
end $function$;

CREATE OR REPLACE FUNCTION longshore.outlives_job(id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE STRICT
AS $function$
  select exists (
    select from longshore.setting s
    where s.name = 'idempotency_days' and (s.value #>> '{}')::integer > 0
      and longshore.id_time(id)
        > clock_timestamp() - make_interval(hours => 24 * (s.value #>> '{}')::integer))
$function$;

CREATE OR REPLACE FUNCTION longshore.params_of(of_shard smallint, of_id uuid)
 RETURNS json
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select params from longshore.job where shard = of_shard and id = of_id);
end $function$;

CREATE OR REPLACE FUNCTION longshore.partitioned_tables()
 RETURNS TABLE(name text, id_column text)
 LANGUAGE sql
 IMMUTABLE
AS $function$
  values ('job', 'id'), ('done', 'id'), ('attempt', 'job_id'), ('event', 'job_id'),
    ('log_chunk', 'job_id'), ('step', 'job_id'), ('stream_chunk', 'job_id'),
    ('edge', 'job_id')
$function$;

CREATE OR REPLACE FUNCTION longshore.partitions(parent text)
 RETURNS TABLE(suffix text, lower_id uuid, upper_id uuid)
 LANGUAGE sql
 STABLE
AS $function$
  select substr(c.relname, length(parent) + 1),
    (regexp_match(b.bound, 'FROM \(''([0-9a-f-]{36})''\)'))[1]::uuid,
    (regexp_match(b.bound, 'TO \(''([0-9a-f-]{36})''\)'))[1]::uuid
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
  where i.inhparent = format('longshore.%I', parent)::regclass
$function$;

CREATE OR REPLACE FUNCTION longshore.paused_since(of_tenant text, of_key text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select min(p.paused_at) from longshore.pause p
  where p.scope = 'all' or (p.scope = 'tenant' and p.name = of_tenant)
    or (p.scope = 'definition' and p.name = of_key)
$function$;

CREATE OR REPLACE FUNCTION longshore.recount_counters(of_shard smallint)
 RETURNS bigint
 LANGUAGE plpgsql
 SET enable_seqscan TO 'on'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.refuse(pointer text, detail text, code text DEFAULT 'LS400'::text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  raise exception using errcode = code, message = pointer || ': ' || detail;
end $function$;

CREATE OR REPLACE FUNCTION longshore.released_version(of_tenant text, of_key text, seed text)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select case when r.canary_percent > longshore.hash_of(seed) % 10000 / 100.0
    then r.canary else r.current end
  from longshore.release r
  where r.key = of_key and r.tenant in (of_tenant, 'default')
  order by r.tenant = of_tenant desc limit 1
$function$;

CREATE OR REPLACE FUNCTION longshore.replace_job(of_shard smallint, of_id uuid, of_queue integer, new_params text, new_shape jsonb, new_rank integer, new_run_at timestamp with time zone, new_expires_at timestamp with time zone, at timestamp with time zone)
 RETURNS job_state
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.replace_partitions(gone text[], target text, low uuid, high uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.request_fields()
 RETURNS TABLE(part text, name text, kind text, low numeric, high numeric, required boolean)
 LANGUAGE sql
 IMMUTABLE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION longshore.retry_policy(retry jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case
    when jsonb_typeof(retry) = 'string' then (
      select p.policy from longshore.retry_presets() p where p.name = retry #>> '{}')
    when retry ? 'delaysMs' then '{"jitter": 0.1}' || retry
    when retry is not null then '{"jitter": 0.1, "baseMs": 1000}' || jsonb_build_object('maxMs',
      greatest(60000, (retry ->> 'baseMs')::numeric)) || retry end
$function$;

CREATE OR REPLACE FUNCTION longshore.retry_presets()
 RETURNS TABLE(name text, max_attempts integer, policy jsonb)
 LANGUAGE sql
 IMMUTABLE
AS $function$
  values ('webhook', 5, '{"baseMs": 1000, "maxMs": 16000, "jitter": 0.1}'::jsonb),
    ('report', 3, '{"baseMs": 30000, "maxMs": 120000, "jitter": 0.1}'),
    ('cleanup', 2, '{"delaysMs": [300000, 900000], "jitter": 0.1}')
$function$;

CREATE OR REPLACE FUNCTION longshore.settle_and_claim_few(of_shard smallint, most integer, of_worker uuid, of_queue integer, of_rank integer, floor_seq bigint, default_attempts integer, of_ids uuid[], of_claims integer[], results json, pids integer[], peaks bigint[], cpus integer[])
 RETURNS TABLE(settled uuid[], id uuid, queue integer, rank integer, seq bigint, attempts integer, "maxAttempts" integer, claim integer, interruptions integer, "paramsJson" text, policy jsonb, limited boolean, watched boolean, traceparent text, "waitedMs" integer)
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.shape_of(of_shard smallint, of_id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select jsonb_build_object('paramsShape', policy -> 'paramsShape') from longshore.job
    where shard = of_shard and id = of_id and policy ? 'paramsShape');
end $function$;

CREATE OR REPLACE FUNCTION longshore.spread_shard(tenant text, definition_key text, at timestamp with time zone)
 RETURNS smallint
 LANGUAGE sql
 STABLE
AS $function$
  select case when p.spread is null then longshore.home_shard(tenant, definition_key) else
    (longshore.home_shard(tenant, definition_key)
      + longshore.turn_at(at) % least(p.spread, s.shards)) % s.shards end::smallint
  from (select value::text::bigint as shards from longshore.setting where name = 'shards') s
  left join (
    select coalesce(asked, (steps -> -1 ->> 'spread')::bigint) as spread
    from longshore.spread where key = definition_key
  ) p on s.shards > 1
$function$;

CREATE OR REPLACE FUNCTION longshore.still_holds(during jsonb, state job_state, age_ms double precision)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case during
    when '"queued"' then state in ('created', 'scheduled', 'queued', 'retrying')
    when '"active"' then state not in ('succeeded', 'failed', 'cancelled')
    else age_ms < (during ->> 'windowMs')::float8 end
$function$;

CREATE OR REPLACE FUNCTION longshore.subscribed_states(of_tenant text, of_key text)
 RETURNS job_state[]
 LANGUAGE sql
 STABLE
AS $function$
  select array_agg(distinct w.state)
  from longshore.webhook h
  join longshore.job_events() w on w.event = any (h.events)
  where h.tenant = of_tenant and h.status = 'active' and left(of_key, 1) <> '$'
    and (h.definition_keys is null or of_key = any (h.definition_keys))
$function$;

CREATE OR REPLACE FUNCTION longshore.subscribed_webhooks(of_shard smallint, of_queue integer)
 RETURNS TABLE(webhook uuid, event text, state job_state, tags text[], queue integer)
 LANGUAGE plpgsql
 STABLE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.tags_of(of_shard smallint, of_id uuid)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select tags from longshore.job where shard = of_shard and id = of_id);
end $function$;

CREATE OR REPLACE FUNCTION longshore.take_key(of_shard smallint, of_scope text, of_key text, of_id uuid, sha bytea)
 RETURNS TABLE(job_id uuid, state job_state)
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION longshore.token_in_ms(rate jsonb, tokens double precision)
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select greatest(0, 1 - tokens)
    * (rate ->> 'perMs')::double precision / (rate ->> 'limit')::double precision
$function$;

CREATE OR REPLACE FUNCTION longshore.tokens_at(rate jsonb, tokens double precision, refilled_at timestamp with time zone, at timestamp with time zone)
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when rate is null then null
    when tokens is null then (rate ->> 'burst')::double precision
    else least((rate ->> 'burst')::double precision,
      tokens + greatest(0, extract(epoch from at - refilled_at)) * 1000
        * (rate ->> 'limit')::double precision / (rate ->> 'perMs')::double precision) end
$function$;

CREATE OR REPLACE FUNCTION longshore.turn_at(at timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select (floor(extract(epoch from at) * 1000 / 16)::numeric * 2654435761 % 4294967296)::bigint >> 16
$function$;

CREATE OR REPLACE FUNCTION longshore.utf16_order(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(string_agg(case
      when ascii(c) < 65536 then lpad(to_hex(ascii(c)), 4, '0')
      else to_hex(55232 + (ascii(c) >> 10)) || to_hex(56320 + (ascii(c) & 1023)) end, '' order by n), '')
  from unnest(string_to_array(value, null)) with ordinality as t(c, n)
$function$;

CREATE OR REPLACE FUNCTION longshore.wrong_value(kind text, low numeric, high numeric, value jsonb)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
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
end $function$;

CREATE TRIGGER audit_is_append_only BEFORE DELETE OR UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();

CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
