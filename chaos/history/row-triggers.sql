-- Triggers that record each change of the narrow row of a job, of an attempt or of a lease. The
-- record is part of the same transaction, so it exists if and only if that committed. The triggers
-- check nothing and refuse nothing.

create schema chaos;
create sequence chaos.seq;

create table chaos.row_event (
  seq bigint not null default nextval('chaos.seq'),
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  begun timestamptz not null default statement_timestamp(),
  move text not null,
  place text not null,
  job uuid not null,
  state text not null,
  claim integer not null,
  attempts integer not null,
  max_attempts integer not null,
  worker uuid,
  run_at timestamptz,
  error_code text,
  execution text
);

create table chaos.attempt_event (
  seq bigint not null default nextval('chaos.seq'),
  at timestamptz not null default clock_timestamp(),
  job uuid not null,
  claim integer not null,
  number integer not null,
  worker uuid not null,
  error_code text,
  execution text
);

create table chaos.progress_event (
  seq bigint not null default nextval('chaos.seq'),
  at timestamptz not null default clock_timestamp(),
  job uuid not null,
  claim integer not null,
  attempts integer not null,
  execution text not null
);

create table chaos.lease_event (
  seq bigint not null default nextval('chaos.seq'),
  at timestamptz not null default clock_timestamp(),
  worker uuid not null,
  pid integer not null,
  until timestamptz not null,
  dead_at timestamptz
);

-- The versions of the jobs of the deployed definition, and what is released.
create table chaos.version_event (
  seq bigint not null default nextval('chaos.seq'),
  at timestamptz not null default clock_timestamp(),
  begun timestamptz not null default statement_timestamp(),
  job uuid not null,
  claim integer not null,
  version integer not null
);

create table chaos.release_event (
  seq bigint not null default nextval('chaos.seq'),
  xid xid8 not null default pg_current_xact_id(),
  current integer
);

-- The three functions name the tables of their trigger, so each is for one table.
create function chaos.note_waiting() returns trigger language plpgsql as $$
begin
  -- A job that gets the permit of its key keeps its state and table: that is no move.
  if tg_op = 'UPDATE' then
    insert into chaos.row_event
      (move, place, job, state, claim, attempts, max_attempts, run_at)
    select e.move, 'waiting', e.id, e.state, e.claim_no, e.attempts, e.max_attempts, e.run_at
    from old_rows o join new_rows n on n.id = o.id
      and (n.state, n.claim_no, n.attempts, n.max_attempts, n.run_at)
        is distinct from (o.state, o.claim_no, o.attempts, o.max_attempts, o.run_at)
    cross join lateral (
      values ('left', o.id, o.state, o.claim_no, o.attempts, o.max_attempts, o.run_at),
        ('came', n.id, n.state, n.claim_no, n.attempts, n.max_attempts, n.run_at)
    ) as e(move, id, state, claim_no, attempts, max_attempts, run_at);
    return null;
  end if;
  if tg_op = 'DELETE' then
    insert into chaos.row_event
      (move, place, job, state, claim, attempts, max_attempts, run_at)
    select 'left', 'waiting', o.id, o.state, o.claim_no, o.attempts, o.max_attempts, o.run_at
    from old_rows o;
  else
    insert into chaos.row_event
      (move, place, job, state, claim, attempts, max_attempts, run_at)
    select 'came', 'waiting', n.id, n.state, n.claim_no, n.attempts, n.max_attempts, n.run_at
    from new_rows n;
  end if;
  return null;
end $$;

create function chaos.note_running() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into chaos.row_event
      (move, place, job, state, claim, attempts, max_attempts, worker)
    select e.move, 'running', e.id, e.state, e.claim_no, e.attempts, e.max_attempts, e.worker
    from old_rows o join new_rows n on n.id = o.id and (n.state, n.claim_no) <> (o.state, o.claim_no)
    cross join lateral (
      values ('left', o.id, o.state, o.claim_no, o.attempts, o.max_attempts, o.worker),
        ('came', n.id, n.state, n.claim_no, n.attempts, n.max_attempts, n.worker)
    ) as e(move, id, state, claim_no, attempts, max_attempts, worker);
    insert into chaos.progress_event (job, claim, attempts, execution)
    select n.id, n.claim_no, n.attempts, n.progress_message
    from old_rows o join new_rows n on n.id = o.id
    where n.progress_message is distinct from o.progress_message
      and n.progress_message is not null;
    return null;
  end if;
  if tg_op = 'DELETE' then
    insert into chaos.row_event
      (move, place, job, state, claim, attempts, max_attempts, worker)
    select 'left', 'running', o.id, o.state, o.claim_no, o.attempts, o.max_attempts, o.worker
    from old_rows o;
  else
    insert into chaos.row_event
      (move, place, job, state, claim, attempts, max_attempts, worker)
    select 'came', 'running', n.id, n.state, n.claim_no, n.attempts, n.max_attempts, n.worker
    from new_rows n;
  end if;
  return null;
end $$;

create function chaos.note_done() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into chaos.row_event
      (move, place, job, state, claim, attempts, max_attempts, worker, error_code, execution)
    select 'left', 'done', o.id, o.state, o.claim_no, o.attempts, o.max_attempts, o.worker,
      o.error_code, o.result ->> 'execution'
    from old_rows o;
  end if;
  if tg_op <> 'DELETE' then
    insert into chaos.row_event
      (move, place, job, state, claim, attempts, max_attempts, worker, error_code, execution)
    select 'came', 'done', n.id, n.state, n.claim_no, n.attempts, n.max_attempts, n.worker,
      n.error_code, n.result ->> 'execution'
    from new_rows n;
  end if;
  return null;
end $$;

-- The jobs of a run name their execution in what they throw.
create function chaos.note_attempt() returns trigger language plpgsql as $$
begin
  insert into chaos.attempt_event (job, claim, number, worker, error_code, execution)
  select n.job_id, n.claim_no, n.number, n.worker, n.error_code,
    substring(n.error ->> 'message' from 'execution=([0-9a-f-]+)')
  from new_rows n;
  return null;
end $$;

create function chaos.note_lease() returns trigger language plpgsql as $$
begin
  insert into chaos.lease_event (worker, pid, until, dead_at)
  select n.instance, n.pid, n.lease_until, n.dead_at from new_rows n;
  return null;
end $$;

create function chaos.note_versions() returns trigger language plpgsql as $$
begin
  insert into chaos.version_event (job, claim, version)
  select n.id, n.claim_no, q.version
  from new_rows n join longshore.queue q on q.shard = n.shard and q.queue = n.queue
  where q.key = 'deployed';
  return null;
end $$;

create function chaos.note_release() returns trigger language plpgsql as $$
begin
  insert into chaos.release_event (current)
  select case when tg_op = 'DELETE' then null else new.current end
  where coalesce(new.key, old.key) = 'deployed';
  return null;
end $$;

create trigger chaos_release after insert or update or delete on longshore.release
  for each row execute function chaos.note_release();
create trigger chaos_versions after insert on longshore.waiting referencing new table as new_rows
  for each statement execute function chaos.note_versions();
create trigger chaos_new_versions after update on longshore.waiting
  referencing old table as old_rows new table as new_rows
  for each statement execute function chaos.note_versions();
create trigger chaos_versions after insert on longshore.running referencing new table as new_rows
  for each statement execute function chaos.note_versions();

create trigger chaos_insert after insert on longshore.waiting referencing new table as new_rows
  for each statement execute function chaos.note_waiting();
create trigger chaos_update after update on longshore.waiting
  referencing old table as old_rows new table as new_rows
  for each statement execute function chaos.note_waiting();
create trigger chaos_delete after delete on longshore.waiting referencing old table as old_rows
  for each statement execute function chaos.note_waiting();

create trigger chaos_insert after insert on longshore.running referencing new table as new_rows
  for each statement execute function chaos.note_running();
create trigger chaos_update after update on longshore.running
  referencing old table as old_rows new table as new_rows
  for each statement execute function chaos.note_running();
create trigger chaos_delete after delete on longshore.running referencing old table as old_rows
  for each statement execute function chaos.note_running();

create trigger chaos_insert after insert on longshore.done referencing new table as new_rows
  for each statement execute function chaos.note_done();
create trigger chaos_update after update on longshore.done
  referencing old table as old_rows new table as new_rows
  for each statement execute function chaos.note_done();
create trigger chaos_delete after delete on longshore.done referencing old table as old_rows
  for each statement execute function chaos.note_done();

create trigger chaos_insert after insert on longshore.attempt referencing new table as new_rows
  for each statement execute function chaos.note_attempt();

create trigger chaos_insert after insert on longshore.worker referencing new table as new_rows
  for each statement execute function chaos.note_lease();
create trigger chaos_update after update on longshore.worker
  referencing old table as old_rows new table as new_rows
  for each statement execute function chaos.note_lease();
