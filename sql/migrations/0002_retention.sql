-- Retention. History is dropped by whole partitions, never row by row. The trouble is what must
-- stay although its partition is over: jobs that still wait or run, dead letters that are kept, and
-- jobs that ended only lately. These survivors are copied into fresh tables, which then take the
-- place of the partitions they were in: the oldest dated one, and `_old`, which reaches back for
-- ever.
--
-- All of it is one transaction, so a kill in the middle leaves everything as it was. The copying
-- takes its time and blocks nobody. Only then the tables are locked, for as long as it takes to
-- copy the few survivors that may have changed meanwhile, to drop and to attach.

-- Jobs that left `done`: retried, or deleted by a person. Whatever deletes from `done` writes here,
-- in the same statement. It is how a pruner that copied an outcome learns that it no longer holds;
-- to compare all of them again would mean doing so under the lock.
create table longshore.revived (
  shard smallint not null,
  id uuid not null
);

create function longshore.history_bytes(suffix text) returns numeric
language plpgsql stable as $$
begin
  return (
    select coalesce(sum(pg_total_relation_size(to_regclass('longshore.' || t.name || suffix))), 0)
    from longshore.partitioned_tables() t);
end $$;

-- The partitions that one round replaces: the oldest dated one, if it ends before that id, and what
-- lies before it. `_old` is left alone once it is large, since each round writes anew what it
-- replaces. Then survivors gather beside it in `_kept`, until that is a quarter of it: so a dead
-- letter that is kept for ever is copied a few times, not every day.
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

-- Copies the survivors of a range of ids into `job_next`, `done_next` and so on, and counts them.
-- Who survives is decided by one statement, hence one snapshot, in which each job is in one place.
-- Those about which something may still be written are remembered in `hot_next`: jobs that wait or
-- run, and those that ended within the last day. Of these only the body is copied here, the rest
-- under the lock. About the others nothing is written any more, unless they are revived.
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
        and (x.shard, x.%3$I) in (select shard, id from longshore.done_next)',
      part.name || '_next', part.name, part.id_column, low, high);
  end loop;
  select count(*) into copied from longshore.job_next;
  return copied;
end $$;

-- The strong lock, or an error when it cannot be had; answers with the moment since which others
-- wait. Everybody who comes after the request queues up behind it, so it is given up in less time
-- than it takes to notice a deadlock: if two wait for each other, it is this one that lets go.
-- Between the tries everybody gets through.
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

-- A backup, or a caller's own long transaction: then the copying would be in vain.
create function longshore.in_long_use(tables text[]) returns boolean
language sql stable as $$
  select exists (
    select 1 from pg_locks l join pg_stat_activity a using (pid)
    where l.relation = any (select format('longshore.%I', t)::regclass from unnest(tables) t)
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - interval '5 s' and a.pid <> pg_backend_pid())
$$;

-- Under the lock: completes the copy by what came or changed since. The cost is that of the hot
-- jobs, not of the partition.
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
      where x.%3$I >= %4$L and x.%3$I < %5$L and (h.late or %6$L)',
      part.name || '_next', part.name, part.id_column, low, high, part.name <> 'job');
  end loop;
end $$;

-- Under the lock: the copies take the place of the partitions. They satisfy the bounds by a
-- constraint that was there from the start, so that attaching them reads no rows.
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

-- Drops the oldest dated partition if all of its jobs were created before the retention began, and
-- says which one, how many jobs survived, and for how long others had to wait. No row: nothing to
-- drop, or another process is at it. Autovacuum is kept off first, since it would hold the lock up.
-- A transaction that reads by a snapshot from before this one (REPEATABLE READ) and looks at a
-- table for the first time afterwards does not see the survivors, as after any rewrite of a table.
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

-- Deletes, a batch at a time, the survivors whose own time has come. They are few, and what is
-- locked here is locked by a person's retry at most.
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
