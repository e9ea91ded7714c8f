-- The history of a job: what it wrote, what happened to it in order, what it has already done, and the
-- small jobs that run after its end. All of it goes with the job when that goes.

-- An attempt tells the whole of its claim: since when the job had waited, whether somebody asked it
-- to stop, and where the job went from here. Most events are read from this and stored nowhere else.
alter table longshore.attempt
  add column queued_at timestamptz,
  add column cancel_requested_at timestamptz,
  add column next longshore.job_state,
  add column run_at timestamptz;
update longshore.attempt a
set next = coalesce((
    select f.state from longshore.done f
    where f.shard = a.shard and f.id = a.job_id and f.claim_no = a.claim_no
  ), case when a.error_code in ('LEASE_EXPIRED', 'INTERRUPTED') then 'queued'
          when a.error_code is null then 'scheduled' else 'retrying' end::longshore.job_state);

-- What a job said while it ran, as far as no other table tells it. n counts within the claim, in the
-- order in which its worker writes them. `cancelling` says that the row was written after a cancel:
-- it is the state of the owned row, read under the lock that keeps a cancel out meanwhile, so that
-- the order of events depends on no clock.
create table longshore.event (
  shard smallint not null,
  job_id uuid not null,
  claim_no integer not null,
  n integer not null,
  attempt integer not null,
  type text not null check (type in ('progress', 'custom', 'hook')),
  cancelling boolean not null,
  at timestamptz not null,
  payload json not null,
  primary key (shard, job_id, claim_no, n)
) partition by range (job_id);

-- Lines of output, many to a row. They come compressed, so PostgreSQL need not try it again.
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

-- What a job has already done, for its next attempt. A step is stored once; the row without a name
-- is the checkpoint, which is overwritten.
create table longshore.step (
  shard smallint not null,
  job_id uuid not null,
  name text not null,
  claim_no integer not null,
  at timestamptz not null,
  value json not null,
  primary key (shard, job_id, name)
) partition by range (job_id);

-- A hook is a job too. It knows the job it belongs to, and which of its hooks it is.
alter table longshore.job add column parent_id uuid, add column hook text;
create index job_parent on longshore.job (shard, parent_id) where parent_id is not null;

-- Hooks wait in a queue of their own, beside the queue of their definition.
lock table longshore.queue in share row exclusive mode;
insert into longshore.queue (shard, queue, tenant, key, version)
select shard, max(queue) over (partition by shard)
    + row_number() over (partition by shard order by queue), tenant, '$hook:' || key, version
from longshore.queue;

-- An id like those that the processes make (core/job/job-id.ts), of this moment: what comes after the
-- milliseconds is the part of the millisecond, then chance, then the shard.
create function longshore.new_job_id(shard smallint) returns uuid
language sql volatile as $$
  select (lpad(to_hex(micros / 1000), 12, '0') || '7' || lpad(to_hex(micros % 1000 * 4), 3, '0')
    || substr(chance, 17, 13) || lpad(to_hex(shard::integer), 3, '0'))::uuid
  from (
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros,
      replace(gen_random_uuid()::text, '-', '') as chance
  ) now
$$;

-- For statements that need the body of a job only now and then.
create function longshore.params_of(of_shard smallint, of_id uuid) returns json
language plpgsql stable as $$
begin
  return (select params from longshore.job where shard = of_shard and id = of_id);
end $$;

create or replace function longshore.partitioned_tables()
returns table (name text, id_column text) language sql immutable as $$
  values ('job', 'id'), ('done', 'id'), ('attempt', 'job_id'), ('event', 'job_id'),
    ('log_chunk', 'job_id'), ('step', 'job_id')
$$;

-- As before, but for one thing: what is only ever added to (attempts, events, lines) is copied for
-- the hot jobs as well, since lines are many and the lock should not have to wait for them. Under
-- the lock comes what was added since. The outcome and the steps of hot jobs may still change, so
-- these are copied only then.
create or replace function longshore.copy_kept(
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
      case part.name when 'step' then 'done_next' else 'job_next' end);
  end loop;
  select count(*) into copied from longshore.job_next;
  return copied;
end $$;

create or replace function longshore.copy_late(low uuid, high uuid) returns void
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
