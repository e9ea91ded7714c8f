-- Fills Longshore's tables as a busy week would have left them: jobs of thirty definitions, most of
-- them finished, one in twenty of these failed. How many comes from the settings bench.live and
-- bench.finished. key-7 has no failure and nothing that waits for a retry; a tag is on a quarter of all
-- jobs (nightly), on one in a hundred (rare) or on three of them (once). workloads/sql/days.sql comes first.


insert into longshore.definition (key, version, info)
select 'key-' || n, 1, jsonb_build_object('key', 'key-' || n, 'version', 1, 'owner', 'team-' || n % 5,
  'maxAttempts', 3, 'timeoutMs', 60000, 'retry', '{"baseMs":1000,"maxMs":60000,"jitter":0.1}'::jsonb,
  'retryOn', null, 'cancelGraceMs', null, 'maxInterruptions', 10, 'isolation', 'process',
  'memoryMb', null, 'hooks', '[]'::jsonb, 'command', null, 'redact', '[]'::jsonb,
  'schedules', '[]'::jsonb, 'paramsSchema', null)
from generate_series(1, 30) n;

insert into longshore.queue (shard, queue, key, version, tenant)
select 0, n, 'key-' || n, 1, 'default' from generate_series(1, 30) n;

create temporary table made as
select n, n <= current_setting('bench.live')::integer as live,
  (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
    || '7' || lpad(to_hex(n & 4095), 3, '0')
    || '8' || substr(md5(n::text), 1, 12) || '000')::uuid as id,
  at, 1 + n % 30 as queue, -(n % 4) as rank, gen_random_uuid() as worker
from (
  select n, case when n <= current_setting('bench.live')::integer
      then clock_timestamp() - interval '6 hours' * (n::float8 / current_setting('bench.live')::integer)
      else clock_timestamp() - interval '7 days'
        * ((n - current_setting('bench.live')::integer)::float8 / current_setting('bench.finished')::integer)
    end as at
  from generate_series(1,
    current_setting('bench.live')::integer + current_setting('bench.finished')::integer) as n
) as moments;

insert into longshore.job (shard, id, queue, params, tags, created_at)
select 0, id, queue, json_build_object('n', n, 'customer', 'customer-' || n % 1000),
  case when n % 1000000 = 999999 then array['once'] when n % 100 = 0 then array['rare']
    when n % 4 = 0 then array['nightly'] end, at
from made;

insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
select 0, id, queue, 'queued', rank, (extract(epoch from at) * 1000000)::bigint + n, 3, at
from made where live and n % 10 < 7;

insert into longshore.waiting (shard, id, queue, state, rank, run_at, max_attempts)
select 0, id, queue, case when n % 10 = 7 then 'scheduled' else 'retrying' end::longshore.job_state,
  rank, clock_timestamp() + interval '1 hour' + n * interval '1 ms', 3
from made where live and n % 10 in (7, 8);

insert into longshore.waiting (shard, id, queue, state, rank, max_attempts)
select 0, id, queue, 'created', rank, 3 from made where live and n % 10 = 9 and n % 100 <> 9;

insert into longshore.worker (shard, instance, host, pid, version, slots, started_at, heartbeat_at,
  lease_until)
select 0, gen_random_uuid(), 'host-' || n, n, '0', 100, clock_timestamp(), clock_timestamp(),
  clock_timestamp() + interval '1 day' from generate_series(1, 100) n;

insert into longshore.running (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
  interruptions, queued_at, worker, started_at)
select 0, id, queue, 'running', rank, 1, 3, 1, 0, at, w.workers[1 + n / 100 % 100], at
from made, (select array_agg(instance) as workers from longshore.worker) w
where live and n % 100 = 9;

insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
  interruptions, queued_at, worker, started_at, finished_at, cancel_requested_at, error_code,
  fingerprint, error, result)
select 0, id, queue, state, rank, 1, 3, 1, 0, at, worker, at + interval '20 ms', at + interval '80 ms',
  case when state = 'cancelled' then at end, case when state = 'failed' then 'HANDLER_ERROR' end,
  case when state = 'failed' then 'HANDLER_ERROR ' || n % 40 end,
  case when state = 'failed' then json_build_object('code', 'HANDLER_ERROR',
    'message', 'customer ' || n % 40 || ' is unknown', 'stack', null, 'cause', null) end,
  case when state = 'succeeded' then '{"ok":true}'::json end
from (
  select m.*, case when n % 20 = 3 then 'failed' when n % 50 = 7 then 'cancelled' else 'succeeded'
    end::longshore.job_state as state
  from made m where not live
) ended;

insert into longshore.attempt (shard, job_id, claim_no, number, worker, started_at, finished_at,
  error_code, error, fingerprint, next)
select 0, id, claim_no, attempts, worker, started_at, finished_at, error_code, error, fingerprint,
  state
from longshore.done where state = 'failed';

-- What the counters would be: every job was made, and something happened in every slot that is kept.
select longshore.recount_counters(0::smallint);

insert into longshore.counter_series (shard, minutes, tenant, key, slot, enqueued, started, succeeded,
  failed, cancelled, retried, deeper, waited, ran)
select 0, g.minutes, 'default', k.key, s.slot, 90, 80, 70, 5, 2, 6, 3, t.counts, t.counts
from (values (1, interval '25 hours'), (15, '193 hours'), (60, '745 hours')) g(minutes, kept)
cross join lateral (
  select generate_series(
    date_bin(make_interval(mins => g.minutes), clock_timestamp() - g.kept, '2000-01-01 00:00:00+00'),
    clock_timestamp(), make_interval(mins => g.minutes)) as slot
) s
cross join (select '' as key union all select 'key-' || n from generate_series(1, 30) n) k
cross join (select jsonb_object_agg(b, 10 * b) as counts from generate_series(20, 39) b) t;

insert into longshore.counter_span (shard, slot, queue, state, bucket, n, ms)
select 0, slot, queue, kind.state::longshore.job_state, bucket, 10, 1000
from (select date_bin('15 minutes', clock_timestamp(), timestamptz '2000-01-01 00:00:00+00')
     - n * interval '15 minutes' as slot from generate_series(0, 96) n
   union all select '-infinity') slots,
  generate_series(1, 30) queue,
  (values ('running', 20), ('succeeded', 20), ('failed', 8), ('retrying', 8)) as kind(state, buckets),
  generate_series(2, 1 + kind.buckets) bucket;

drop table made;
