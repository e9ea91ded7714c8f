-- Fills Longshore's tables with jobs that cannot run now, a quarter each: those of a tenant whose limit
-- is used up, those of a tenant that is paused, those that wait for a concurrency key, and those of a
-- definition that no worker here serves. How many comes from the setting bench.blocked.

insert into longshore.tenant (name) values ('limited'), ('paused');
insert into longshore.limit_override (scope, name, limits, changed_at)
values ('tenant', 'limited', '{"concurrencyLimit":1}', clock_timestamp());
insert into longshore.pause (scope, name, paused_at) values ('tenant', 'paused', clock_timestamp());

insert into longshore.queue (shard, queue, key, version, tenant, paused_at, tenant_limiter, keyed)
values
  (0, 101, 'noop', 1, 'limited', null, longshore.limiter_of('tenant', 'limited'), false),
  (0, 102, 'noop', 1, 'paused', clock_timestamp(), null, false),
  (0, 103, 'keyed', 1, 'default', null, null, true),
  (0, 104, 'elsewhere', 1, 'default', null, null, false);

-- One job of a worker that lives, elsewhere, has the only token of the limit; one has that of the key.
insert into longshore.worker (shard, instance, host, pid, version, slots, started_at, heartbeat_at,
  lease_until)
values (0, '00000000-0000-4000-8000-000000000001', 'elsewhere', 1, '0', 2, clock_timestamp(),
  clock_timestamp(), clock_timestamp() + interval '1 day');

create temporary table blocked as
select n, 101 + n % 4 as queue,
  (lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
    || '7' || lpad(to_hex(n & 4095), 3, '0')
    || '8' || substr(md5(n::text), 1, 12) || '000')::uuid as id
from generate_series(0, current_setting('bench.blocked')::integer - 1) as n;

insert into longshore.job (shard, id, queue, params, created_at, concurrency_key)
select 0, id, queue, '{"n":1}', clock_timestamp(), case when queue = 103 then 'one' end from blocked;

create temporary table key_limiter as
select 4611686018427387904 | 1 as limiter, longshore.limiter_of('definition', 'keyed') as definition;

insert into longshore.limiter (shard, limiter, name, lim, in_use)
values (0, longshore.limiter_of('tenant', 'limited'), 'tenant limited', 1, 1);
insert into longshore.limiter (shard, limiter, name, key_lim)
select 0, definition, 'definition keyed', 1 from key_limiter;
insert into longshore.limiter (shard, limiter, definition, in_use, blocked)
select 0, limiter, definition, 1, (select count(*) from blocked where queue = 103 and n > 3)
from key_limiter;

insert into longshore.running (shard, id, queue, state, rank, key_limiter, attempts, max_attempts, claim_no,
  interruptions, queued_at, worker, started_at, permits)
select 0, b.id, b.queue, 'running', 0, case when b.queue = 103 then k.limiter end, 1, 3, 1, 0,
  clock_timestamp(), '00000000-0000-4000-8000-000000000001', clock_timestamp(),
  array[case when b.queue = 103 then k.limiter else longshore.limiter_of('tenant', 'limited') end]
from blocked b, key_limiter k
where b.n < 4 and b.queue in (101, 103);

insert into longshore.waiting (shard, id, queue, state, rank, key_limiter, seq, blocked, attempts,
  max_attempts, claim_no, interruptions, queued_at)
select 0, b.id, b.queue, 'queued', 0, case when b.queue = 103 then k.limiter end,
  case when b.queue <> 103 then b.n end, case when b.queue = 103 then b.n end, 0, 3, 0, 0,
  clock_timestamp()
from blocked b, key_limiter k
where b.n > 3 or b.queue not in (101, 103);

drop table blocked, key_limiter;
