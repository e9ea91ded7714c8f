-- Where `longshore.enqueue` was not quite what `POST /v1/jobs` is (`0015_enqueue_by_sql.sql`).

-- A tag that is there twice is named by its place.
create or replace function longshore.check_request(request jsonb)
returns void language plpgsql stable as $$
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
end $$;

-- A queue knows from the start which of its moves a webhook wants to hear of.
create or replace function longshore.queue_of(of_shard smallint, of_key text, of_version integer, of_tenant text)
returns longshore.queue language plpgsql as $$
declare
  found_queue longshore.queue;
begin
  for try in 1 .. 100 loop
    select l.* into found_queue from longshore.queue l
    where l.shard = of_shard and l.key = of_key and l.version = of_version and l.tenant = of_tenant
      and exists (
        select 1 from longshore.queue h
        where h.shard = of_shard and h.key = '$hook:' || l.key and h.version = l.version
          and h.tenant = l.tenant);
    if found then return found_queue; end if;
    insert into longshore.queue (shard, queue, key, version, tenant, paused_at, definition_limiter, tenant_limiter, keyed,
      told)
    select of_shard, top.queue + l.n, l.key, of_version, of_tenant, (
        select min(p.paused_at) from longshore.pause p
        where p.scope = 'all' or (p.scope = 'tenant' and p.name = of_tenant)
          or (p.scope = 'definition' and p.name = l.key)),
      case when num_nonnulls(d.lim, d.rate, d.key_rate) > 0 then d.limiter end,
      case when t.lim is not null then t.limiter end, num_nonnulls(d.key_lim, d.key_rate) > 0,
      longshore.subscribed_states(of_tenant, l.key)
    from (select coalesce(max(queue), 0) as queue from longshore.queue where shard = of_shard) top
    cross join (values (1, of_key), (2, '$hook:' || of_key)) as l(n, key)
    left join longshore.limiter d
      on d.shard = of_shard and d.limiter = longshore.limiter_of('definition', of_key) and l.n = 1
    left join longshore.limiter t
      on t.shard = of_shard and t.limiter = longshore.limiter_of('tenant', of_tenant) and l.n = 1
    on conflict do nothing;
  end loop;
  raise exception 'no queue could be made for %@%', of_key, of_version;
end $$;

-- A job whose definition nobody has published yet has no number of attempts: its first claim asks.
create or replace function longshore.enqueue(request jsonb)
returns table (job_id uuid, status text, created boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan set timezone = 'UTC'
as $$
#variable_conflict use_column
declare
  tenant text := coalesce(request ->> 'tenant', 'default');
  definition_key text := request ->> 'definitionKey';
  idempotency_key text := request ->> 'idempotencyKey';
  unique_key text;
  params text;
  sha bytea;
  published record;
  shard smallint;
  queue longshore.queue;
  key_limiter bigint;
  rank integer;
  policy jsonb := '{}';
  at timestamptz := clock_timestamp();
  due timestamptz;
  expiry timestamptz;
  state longshore.job_state;
  earlier record;
begin
  perform longshore.check_request(request);
  params := longshore.checked_params(coalesce(request -> 'params', '{}'));
  sha := sha256(convert_to(params, 'UTF8'));
  select d.version, (d.info ->> 'maxAttempts')::integer as max_attempts into published
  from longshore.definition d
  where d.key = definition_key
    and d.version = coalesce((request ->> 'definitionVersion')::integer, d.version)
  order by d.version desc limit 1;
  shard := longshore.home_shard(tenant, definition_key);
  queue := longshore.queue_of(shard, definition_key,
    coalesce((request ->> 'definitionVersion')::integer, published.version, 1), tenant);
  rank := -coalesce((request ->> 'priority')::integer, 0);
  due := coalesce(longshore.instant_of(request ->> 'runAt'),
    at + make_interval(secs => coalesce((request ->> 'delayMs')::float8, 0) / 1000));
  expiry := longshore.instant_of(request ->> 'expiresAt');
  job_id := longshore.new_job_id(shard);
  created := false;

  if idempotency_key is not null then
    select * into earlier from longshore.take_key(shard,
      E'idempotency\n' || tenant || E'\n' || definition_key, idempotency_key, job_id, sha);
    if found then
      return query select earlier.job_id, earlier.state::text, false;
      return;
    end if;
  end if;
  if request ? 'unique' then
    unique_key := coalesce('key:' || (request #>> '{unique,key}'), 'params:' || encode(sha, 'hex'));
    policy := jsonb_build_object('unique',
      jsonb_build_object('key', unique_key, 'while', request #> '{unique,while}'));
    select * into earlier from longshore.meet_holder(shard,
      E'unique\n' || tenant || E'\n' || definition_key, unique_key, job_id, queue.queue,
      request -> 'unique', params, sha, rank, due, expiry, at);
    if found then
      -- The same request once more shall be answered with the same job, however that is by then.
      update longshore.dedupe d set job_id = earlier.job_id
      where idempotency_key is not null and d.shard = queue.shard
        and d.scope = E'idempotency\n' || tenant || E'\n' || definition_key and d.key = idempotency_key;
      perform longshore.tell_of_job(shard, queue.queue, rank, earlier.state,
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
    idempotency_key, nullif(policy, '{}'), at, request ->> 'concurrencyKey');
  insert into longshore.waiting (shard, id, queue, state, rank, key_limiter, seq, run_at, expires_at,
    max_attempts, queued_at)
  values (shard, job_id, queue.queue, state, rank, key_limiter,
    case when state = 'queued' then (extract(epoch from at) * 1000000)::bigint end,
    case when state = 'scheduled' or (state = 'created' and (request ? 'runAt' or due > at)) then due end,
    expiry,
    coalesce((request ->> 'maxAttempts')::integer,
      case request ->> 'retry' when 'webhook' then 5 when 'report' then 3 when 'cleanup' then 2 end,
      published.max_attempts),
    case when state = 'queued' then at end);
  insert into longshore.counter_delta (shard, queue, state, n) values (shard, queue.queue, state, 1);
  perform longshore.tell_of_job(shard, queue.queue, rank, state, extract(epoch from due - at) * 1000);
  return query select job_id, state::text, true;
end $$;

-- Queues that were first used by SQL, under a webhook that was there before them.
lock table longshore.queue in share row exclusive mode;
update longshore.queue set told = longshore.subscribed_states(tenant, key)
where told is distinct from longshore.subscribed_states(tenant, key);
