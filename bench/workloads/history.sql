-- Fills Longshore's tables with finished jobs of the last seven days, as if it had run for a week.
-- How many comes from the setting bench.finished.

-- A server that has run for a week has a partition for each of its days. A new one has a single
-- partition for all that lies before today: it is made to end a week earlier, and the days follow.
do $$
declare
  parent regclass;
  oldest regclass;
  today timestamptz := date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC';
  day timestamptz;
  part text;
begin
  for parent, oldest in
    select i.inhparent::regclass, i.inhrelid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid and c.relkind = 'r'
    join pg_class p on p.oid = i.inhparent and p.relnamespace = 'longshore'::regnamespace
    where pg_get_expr(c.relpartbound, c.oid) like '%(MINVALUE)%'
  loop
    execute format('alter table %s detach partition %s', parent, oldest);
    execute format('alter table %s attach partition %s for values from (minvalue) to (%L)',
      parent, oldest, longshore.id_floor(today - interval '168 hours'));
    for n in reverse 7..1 loop
      day := today - make_interval(hours => 24 * n);
      part := replace(parent::text, 'longshore.', '')
        || to_char(day at time zone 'UTC', '"_p"YYYYMMDD');
      execute format('create table longshore.%I partition of %s for values from (%L) to (%L)',
        part, parent, longshore.id_floor(day), longshore.id_floor(day + interval '24 hours'));
    end loop;
  end loop;
end $$;

insert into longshore.lane (shard, lane, key, version, tenant)
select 0, coalesce(max(lane), 0) + 1, 'noop', 1, 'default' from longshore.lane where shard = 0
on conflict do nothing;

-- Ids as core/job-id.ts makes them: 48 bits of time, version 7, random, shard 0 in the low bits.
create temporary table finished as
select
  (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
    || '7' || lpad(to_hex(n & 4095), 3, '0')
    || '8' || substr(md5(n::text), 1, 12) || '000')::uuid as id,
  at
from (
  select n, clock_timestamp() - interval '7 days'
    + n * interval '7 days' / (current_setting('bench.finished')::integer + 1) as at
  from generate_series(1, current_setting('bench.finished')::integer) as n
) as moments;

insert into longshore.job (shard, id, lane, params, created_at)
select 0, id, (select lane from longshore.lane where key = 'noop'), '{"n":1}', at from finished;

insert into longshore.done (shard, id, lane, state, rank, attempts, max_attempts, claim_no,
  interruptions, queued_at, worker, started_at, finished_at, result)
select 0, id, (select lane from longshore.lane where key = 'noop'), 'succeeded', 0, 1, 3, 1,
  0, at, gen_random_uuid(), at + interval '2 ms', at + interval '5 ms', 'null'
from finished;

drop table finished;
