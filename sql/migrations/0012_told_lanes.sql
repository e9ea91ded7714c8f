-- Which moves of a queue's jobs somebody wants to hear of: null, nearly always, when nobody does. It is
-- the sum of the webhooks that are active, written by whoever changes one, as `paused_at` is the sum of
-- the pauses. Claims look at the queue's row anyway, so to ask costs them nothing.
alter table longshore.queue add column told longshore.job_state[];

create function longshore.subscribed_states(of_tenant text, of_key text)
returns longshore.job_state[]
language sql stable as $$
  select array_agg(distinct w.state::longshore.job_state)
  from longshore.webhook h
  join (values ('job.started', 'running'), ('job.retrying', 'retrying'),
      ('job.succeeded', 'succeeded'), ('job.failed', 'failed'), ('job.cancelled', 'cancelled'),
      ('job.finished', 'succeeded'), ('job.finished', 'failed'), ('job.finished', 'cancelled'))
    as w(event, state) on w.event = any (h.events)
  where h.tenant = of_tenant and h.status = 'active' and left(of_key, 1) <> '$'
    and (h.definition_keys is null or of_key = any (h.definition_keys))
$$;

lock table longshore.queue in share row exclusive mode;
update longshore.queue set told = longshore.subscribed_states(tenant, key)
where longshore.subscribed_states(tenant, key) is not null;
