-- What is wrong right now, and what was. An alert is about one subject under one rule of one tenant; while it
-- fires, the unique index lets there be no second one, whoever else believes that it has to be told.
-- Written once for each trouble, hence small and without a shard.
create table longshore.alert (
  id uuid primary key,
  tenant text not null,
  rule text not null,
  -- What it is about, within the rule: a definition, a schedule, or nothing where there is only one.
  subject text not null,
  definition_key text,
  schedule_id uuid,
  -- One job of those that it is about.
  job_id uuid,
  value double precision not null,
  threshold double precision not null,
  message text not null,
  fired_at timestamptz not null,
  -- When it was last found to be so.
  seen_at timestamptz not null,
  resolved_at timestamptz
) with (fillfactor = 50);
create unique index alert_firing on longshore.alert (tenant, rule, subject) where resolved_at is null;
create index alert_seen on longshore.alert (seen_at) where resolved_at is null;
create index alert_tenant on longshore.alert (tenant, id) where tenant is not null;
create index alert_resolved on longshore.alert (resolved_at) where resolved_at is not null;

-- What a tenant decided about a rule, for all definitions (the empty key) or for one. Null goes on to what is
-- said more generally: for all definitions, by the configuration, by the code.
create table longshore.alert_rule (
  tenant text not null,
  rule text not null,
  definition_key text not null default '',
  threshold double precision check (threshold > 0),
  window_seconds integer check (window_seconds > 0),
  enabled boolean,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant, rule, definition_key)
);

-- What failed and was tried again, lately: paid for by failures only.
create index attempt_retried on longshore.attempt (shard, finished_at) where next = 'retrying';

-- Slots that nobody made good for, lately.
create index slot_missed on longshore.slot (shard, slot_at)
  where status = 'skipped' and reason in ('missed', 'catch_up_window', 'catch_up_max');
