-- A job that shall fail when no worker has its code keeps that wish for as long as it lives. Its body
-- says it (`policy.failsUnhandled`), and the narrow rows carry a copy: `waiting` had one, which was lost
-- at the first claim. `done` has none: a retry by hand reads the body, as it does for a concurrency key.
alter table longshore.running add column fails_unhandled boolean;

update longshore.job j set policy = coalesce(j.policy, '{}') || '{"failsUnhandled": true}'
from longshore.waiting w
where w.fails_unhandled and j.shard = w.shard and j.id = w.id;

-- Null: neither the caller nor a published definition has said how many attempts the job has. Its first
-- claim asks the definition, which the worker that claims it has published by then.
alter table longshore.waiting alter column max_attempts drop not null;
alter table longshore.done alter column max_attempts drop not null;

create function longshore.default_attempts(of_shard smallint, of_queue integer)
returns integer language sql stable as $$
  select coalesce((
    select (d.info ->> 'maxAttempts')::integer
    from longshore.queue l join longshore.definition d on d.key = l.key and d.version = l.version
    where l.shard = of_shard and l.queue = of_queue), 3)
$$;
