-- Fills Longshore's tables with finished jobs of the last seven days, as if it had run for a week.
-- How many comes from the setting bench.finished. days.sql comes first.

insert into longshore.queue (shard, queue, key, version, tenant)
select 0, coalesce(max(queue), 0) + 1, 'noop', 1, 'default' from longshore.queue where shard = 0
on conflict do nothing;

-- Ids as core/job/job-id.ts makes them: 48 bits of time, version 7, random, shard 0 in the low bits.
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

insert into longshore.job (shard, id, queue, params, created_at)
select 0, id, (select queue from longshore.queue where key = 'noop'), '{"n":1}', at from finished;

insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
  interruptions, queued_at, worker, started_at, finished_at, result)
select 0, id, (select queue from longshore.queue where key = 'noop'), 'succeeded', 0, 1, 3, 1,
  0, at, gen_random_uuid(), at + interval '2 ms', at + interval '5 ms', 'null'
from finished;

drop table finished;

select longshore.recount_counters(0::smallint);
