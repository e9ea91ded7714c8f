-- Who wants to be told what becomes of jobs, and where. Written by people, hence small and without a
-- shard; but read by every statement that moves a job, which asks first whether anybody listens at all.
--
-- The secret has to be known to sign with it, so it is kept as it is. A rotated one goes on signing beside
-- the new one for a while. `failing_since` is when the sends began to fail without one success between.
create table longshore.webhook (
  id uuid primary key,
  tenant text not null,
  url text not null,
  description text,
  events text[] not null check (cardinality(events) > 0),
  -- Null is all of them. Of tags one that fits is enough.
  definition_keys text[] check (cardinality(definition_keys) > 0),
  tags text[] check (cardinality(tags) > 0),
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  notice text,
  secret text not null,
  previous_secret text,
  previous_until timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check ((failures = 0) = (failing_since is null))
) with (fillfactor = 50);
create index webhook_tenant on longshore.webhook (tenant, id) where tenant is not null;
create index webhook_listening on longshore.webhook (tenant) where status = 'active';

-- A delivery is a job too. It belongs to its webhook as a hook does to its job, and is listed page by
-- page, which wants the ids in order.
drop index longshore.job_parent;
create index job_parent on longshore.job (shard, parent_id, id) where parent_id is not null;

-- What follows is called by statements that move jobs, for the few moves that somebody listens to. It is
-- kept out of their text because everything in a plan has to be made ready, even if it never begins.

-- Who listens to the jobs of a queue, and to which of their moves. Tenants without a webhook come first.
create function longshore.listeners(of_shard smallint, of_queue integer)
returns table (webhook uuid, event text, state longshore.job_state, tags text[], queue integer)
language plpgsql stable as $$
declare
  own record;
begin
  select l.key, l.tenant into own from longshore.queue l
  where l.shard = of_shard and l.queue = of_queue
    and exists (select 1 from longshore.webhook h where h.tenant = l.tenant and h.status = 'active');
  if own.tenant is null or left(own.key, 1) = '$' then
    return;
  end if;
  return query
  select h.id, w.event, w.state::longshore.job_state, h.tags, d.queue
  from longshore.webhook h
  cross join (
    select l.queue from longshore.queue l
    where l.shard = of_shard and l.key = '$webhook' and l.version = 1 and l.tenant = own.tenant
  ) d
  join (values ('job.started', 'running'), ('job.retrying', 'retrying'),
      ('job.succeeded', 'succeeded'), ('job.failed', 'failed'), ('job.cancelled', 'cancelled'),
      ('job.finished', 'succeeded'), ('job.finished', 'failed'), ('job.finished', 'cancelled'))
    as w(event, state) on w.event = any (h.events)
  where h.tenant = own.tenant and h.status = 'active'
    and (h.definition_keys is null or own.key = any (h.definition_keys));
end $$;

-- Stores the body of a delivery and answers with its id. Its params are `DeliveryParams`
-- (core/webhook/webhook-event.ts).
create function longshore.new_delivery(
  of_shard smallint, of_queue integer, webhook uuid, event text, of_job uuid, at timestamptz,
  state longshore.job_state, attempts integer, run_at timestamptz, error json
) returns uuid
language plpgsql volatile as $$
declare
  made uuid := longshore.new_job_id(of_shard);
begin
  insert into longshore.job (shard, id, queue, params, parent_id, hook, created_at)
  values (of_shard, made, of_queue, json_build_object('webhookId', webhook, 'event', event,
    'jobId', of_job, 'at', at, 'status', state, 'attempts', attempts, 'runAt', run_at,
    'error', error), webhook, event, at);
  return made;
end $$;

create function longshore.tags_of(of_shard smallint, of_id uuid) returns text[]
language plpgsql stable as $$
begin
  return (select tags from longshore.job where shard = of_shard and id = of_id);
end $$;
