-- Enqueueing by SQL, in the transaction of whoever calls, be it from an application or a trigger:
--
--   select job_id from longshore.enqueue('{"definitionKey": "mail.send", "params": {"to": 17}}');
--
-- It takes what `POST /v1/jobs` takes, by the same rules, and a `tenant`; `store/enqueue/enqueue.ts` stores jobs
-- by the hundred and is another shape of the same thing. A test sends a table of requests through both and
-- compares every row they leave behind, so that neither can drift away from the other.
--
-- The caller's transaction may stay open for long, and nothing here may hold up others meanwhile. So a
-- job whose concurrency key is limited is not counted at its limiter, which would lock it: it is stored as a
-- job whose time has come, and the promoter brings it to its limiter after the commit. NOTIFY is sent at the
-- commit too, as PostgreSQL does.
--
-- The function acts with the rights of its owner: a caller needs to see no table, only to use the schema
-- and to execute this one function. What it is given is refused with SQLSTATE LS400 (wrong as it is),
-- LS422 (params are), LS413 (params too large) or LS409 (the idempotency key has other params), and a
-- message that begins with a JSON pointer to the place.

create function longshore.refuse(pointer text, detail text, code text default 'LS400')
returns void language plpgsql as $$
begin
  raise exception using errcode = code, message = pointer || ': ' || detail;
end $$;

-- FNV-1a, as in `core/queue/shard.ts`: the answer must never change.
create function longshore.home_shard(tenant text, definition_key text)
returns smallint language plpgsql stable as $$
declare
  text_bytes bytea := convert_to(tenant || E'\n' || definition_key, 'UTF8');
  hash bigint := 2166136261;
begin
  for n in 0 .. octet_length(text_bytes) - 1 loop
    hash := ((hash # get_byte(text_bytes, n)) * 16777619) & 4294967295;
  end loop;
  return hash % (select value::text::bigint from longshore.setting where name = 'shards');
end $$;

-- JSON text as JavaScript writes it, with the keys of objects in order: what params are stored as, measured
-- by and compared by, whichever way they came. A number is what a double can hold of it, in the notation of
-- ECMAScript; in the very few cases where a shorter text lies exactly between two doubles, PostgreSQL
-- prints one digit more than JavaScript does.

create function longshore.json_number(value numeric)
returns text language plpgsql immutable set extra_float_digits = 1 as $$
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
end $$;

-- JavaScript compares texts by units of UTF-16, where what lies beyond 16 bits comes before U+E000.
create function longshore.utf16_order(value text)
returns text language sql immutable as $$
  select coalesce(string_agg(case
      when ascii(c) < 65536 then lpad(to_hex(ascii(c)), 4, '0')
      else to_hex(55232 + (ascii(c) >> 10)) || to_hex(56320 + (ascii(c) & 1023)) end, '' order by n), '')
  from unnest(string_to_array(value, null)) with ordinality as t(c, n)
$$;

create function longshore.canonical_json(value jsonb, depth integer default 1)
returns text language plpgsql immutable as $$
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
end $$;

-- Params as they are stored, or refused.
create function longshore.checked_params(value jsonb)
returns text language plpgsql immutable as $$
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
end $$;

-- The fields of a request and of what is inside it, as in `protocol/requests/job-body.ts`.
create function longshore.request_fields()
returns table (part text, name text, kind text, low numeric, high numeric, required boolean)
language sql immutable as $$
  values ('job', 'definitionKey', 'key', null::numeric, null::numeric, true),
    ('job', 'definitionVersion', 'whole', 1, 2147483647, false),
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
    ('while', 'windowMs', 'whole', 1, 31622400000, true),
    ('retry', 'baseMs', 'number', 0, 31622400000, false),
    ('retry', 'maxMs', 'number', 0, 31622400000, false),
    ('retry', 'delaysMs', 'delays', 1, 1000, false),
    ('retry', 'jitter', 'number', 0, 1, false)
$$;

-- A moment with its offset, from 1970 on, as exact as JavaScript knows it; null when it is none.
create function longshore.instant_of(value text)
returns timestamptz language plpgsql stable as $$
declare
  moment timestamptz;
begin
  if value !~ '^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$'
  then return null; end if;
  moment := date_trunc('milliseconds', value::timestamptz);
  return case when moment >= 'epoch' then moment end;
exception when datetime_field_overflow or invalid_datetime_format or invalid_time_zone_displacement_value
  then return null;
end $$;

-- What is wrong with a plain value; null when nothing is.
create function longshore.wrong_value(kind text, low numeric, high numeric, value jsonb)
returns text language plpgsql stable as $$
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
end $$;

-- Refuses a list that is too long or has a wrong entry.
create function longshore.check_list(at text, value jsonb, low numeric, high numeric,
  kind text, entry_low numeric, entry_high numeric)
returns void language plpgsql stable as $$
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
end $$;

-- Refuses what has a field that is unknown, missing or wrong.
create function longshore.check_fields(of_part text, at text, value jsonb)
returns void language plpgsql stable as $$
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
        if field.value not in ('"webhook"', '"report"', '"cleanup"') then
          if jsonb_typeof(field.value) <> 'object' then
            wrong := 'must be a preset (webhook, report, cleanup) or an object';
          else perform longshore.check_fields('retry', place, field.value); end if;
        end if;
      when field.kind = 'tags' then
        perform longshore.check_list(place, field.value, field.low, field.high, 'text', 1, 100);
      when field.kind = 'delays' then
        perform longshore.check_list(place, field.value, field.low, field.high, 'number', 0, 31622400000);
      else wrong := longshore.wrong_value(field.kind, field.low, field.high, field.value);
    end case;
    if wrong is not null then perform longshore.refuse(place, wrong); end if;
  end loop;
end $$;

-- Refuses a request that no job can be made of. Rules between fields come last.
create function longshore.check_request(request jsonb)
returns void language plpgsql stable as $$
declare
  expiry timestamptz;
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
  if (select count(distinct t) < count(*) from jsonb_array_elements(request -> 'tags') t) then
    perform longshore.refuse('/tags', 'has the same tag twice');
  end if;
end $$;

-- When a failed attempt is tried again, from a preset or rules; as in `core/failure/backoff.ts`.
create function longshore.retry_policy(retry jsonb)
returns jsonb language sql immutable as $$
  select case
    when retry = '"webhook"' then '{"baseMs": 1000, "maxMs": 16000, "jitter": 0.1}'
    when retry = '"report"' then '{"baseMs": 30000, "maxMs": 120000, "jitter": 0.1}'
    when retry = '"cleanup"' then '{"delaysMs": [300000, 900000], "jitter": 0.1}'
    when retry ? 'delaysMs' then '{"jitter": 0.1}' || retry
    when retry is not null then '{"jitter": 0.1, "baseMs": 1000}' || jsonb_build_object('maxMs',
      greatest(60000, (retry ->> 'baseMs')::numeric)) || retry end::jsonb
$$;

-- The queue of a definition version, made when it is first needed, with the one beside it for its hooks
-- (`store/enqueue/queues.ts`).
create function longshore.queue_of(of_shard smallint, of_key text, of_version integer, of_tenant text)
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
    insert into longshore.queue (shard, queue, key, version, tenant, paused_at, definition_limiter, tenant_limiter, keyed)
    select of_shard, top.queue + l.n, l.key, of_version, of_tenant, (
        select min(p.paused_at) from longshore.pause p
        where p.scope = 'all' or (p.scope = 'tenant' and p.name = of_tenant)
          or (p.scope = 'definition' and p.name = l.key)),
      case when num_nonnulls(d.lim, d.rate, d.key_rate) > 0 then d.limiter end,
      case when t.lim is not null then t.limiter end, num_nonnulls(d.key_lim, d.key_rate) > 0
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

-- Where a job is now that holds a key; no row when it is gone. While old history is dropped, one look may
-- see it nowhere, so there are two.
create function longshore.holder_job(of_id uuid)
returns table (state longshore.job_state, queue integer, untouched boolean, age_ms float8)
language plpgsql as $$
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
end $$;

-- Whether a job still keeps others of its kind out, as in `core/job/unique.ts`.
create function longshore.still_holds(during jsonb, state longshore.job_state, age_ms float8)
returns boolean language sql immutable as $$
  select case during
    when '"queued"' then state in ('created', 'scheduled', 'queued', 'retrying')
    when '"active"' then state not in ('succeeded', 'failed', 'cancelled')
    else age_ms < (during ->> 'windowMs')::float8 end
$$;

-- A job that waits and has never been claimed gets what a later one asked for (`store/enqueue/unique-jobs.ts` says
-- why its row is made anew). Null when it is too late for that.
create function longshore.replace_job(of_shard smallint, of_id uuid, of_queue integer, new_params text,
  new_rank integer, new_run_at timestamptz, new_expires_at timestamptz, at timestamptz)
returns longshore.job_state language plpgsql as $$
declare
  gone longshore.waiting;
begin
  delete from longshore.waiting w
  where w.shard = of_shard and w.id = of_id and w.queue = of_queue and w.claim_no = 0
    and (w.state <> 'queued' or new_run_at <= at)
  returning w.* into gone;
  if gone.id is null then return null; end if;
  update longshore.job set params = new_params::json where shard = of_shard and id = of_id;
  gone.rank := new_rank;
  gone.run_at := case when gone.state = 'scheduled' or (gone.state = 'created' and new_run_at > at)
    then new_run_at end;
  gone.expires_at := new_expires_at;
  insert into longshore.waiting select gone.*;
  return gone.state;
end $$;

-- The job that answers for a unique one which need not be made; null when it is to be made. Either way the
-- key stays locked until the end of the transaction.
create function longshore.meet_holder(of_shard smallint, of_scope text, of_key text, of_id uuid,
  of_queue integer, unique_request jsonb, new_params text, new_sha bytea, new_rank integer,
  new_run_at timestamptz, new_expires_at timestamptz, at timestamptz)
returns table (job_id uuid, state longshore.job_state)
language plpgsql as $$
#variable_conflict use_column
declare
  holder_id uuid;
  holder record;
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
    if holder.untouched and holder.queue = of_queue then
      replaced := longshore.replace_job(of_shard, holder_id, of_queue, new_params, new_rank, new_run_at,
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
end $$;

-- Takes an idempotency key; answers with the job that has it already, if one has.
create function longshore.take_key(of_shard smallint, of_scope text, of_key text, of_id uuid, sha bytea)
returns table (job_id uuid, state longshore.job_state)
language plpgsql as $$
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
    delete from longshore.dedupe d
    where d.shard = of_shard and d.scope = of_scope and d.key = of_key and d.job_id = held.job_id;
  end loop;
  raise exception 'an idempotency key kept changing hands' using errcode = 'serialization_failure';
end $$;

-- Tells workers, or schedulers, at the commit. What is due later than five seconds needs no telling.
create function longshore.tell_of_job(of_shard smallint, of_queue integer, of_rank integer,
  of_state longshore.job_state, due_in_ms float8)
returns void language plpgsql as $$
begin
  if of_state = 'queued' then
    perform pg_notify('longshore_wake', format('%s:%s:%s', of_shard, of_queue, of_rank));
  elsif of_state = 'scheduled' and due_in_ms < 5000 then
    perform pg_notify('longshore_due', 'jobs:' || greatest(0, round(due_in_ms)));
  end if;
end $$;

create function longshore.enqueue(request jsonb)
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
      published.max_attempts, 3),
    case when state = 'queued' then at end);
  insert into longshore.counter_delta (shard, queue, state, n) values (shard, queue.queue, state, 1);
  perform longshore.tell_of_job(shard, queue.queue, rank, state, extract(epoch from due - at) * 1000);
  return query select job_id, state::text, true;
end $$;

-- Who may use the schema, to look at queues perhaps, may not start jobs for that reason alone.
revoke execute on function longshore.enqueue(jsonb) from public;
