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

-- For statements that need the tags of a job only now and then.
create function longshore.tags_of(of_shard smallint, of_id uuid) returns text[]
language plpgsql stable as $$
begin
  return (select tags from longshore.job where shard = of_shard and id = of_id);
end $$;
