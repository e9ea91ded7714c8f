import { DELIVERY_MAX_ATTEMPTS, WEBHOOK_KEY } from '../core/webhook.ts';
import { WAKE_CHANNEL } from './wake.ts';

/**
 * Makes the deliveries of webhooks: a part of every statement that moves a job in a way that somebody
 * may want to hear of. Move and delivery are one commit, so an event is never lost and never told of a
 * move that did not happen. What it is told is `DeliveryParams` of `core/webhook-event.ts`.
 *
 * Most moves interest nobody, and they must not pay. So the first question, asked once per statement,
 * is whether there is an active webhook anywhere; while there is none, nothing below it is even begun.
 * If there is one, each lane of the batch is looked up once, then the webhooks of its tenant: a tenant
 * without any pays two probes of an index for each lane. Only then is a job looked at, and its tags
 * only if a webhook asks for some. (They are read by a function for the reason that
 * `store/hook-jobs.ts` gives.)
 *
 * Workers are told in the statement itself, one message for each lane of deliveries, since claims have
 * no other way to say it. The lock that a commit with a message takes is paid for by those who listen.
 *
 * `moved` is a query for what moved: id, lane, state, at, attempts, run_at, error.
 */
const tell = (moved: string) => `
  moved as materialized (${moved}),
  listening as materialized (
    select e.lane, h.id as webhook, h.events, h.tags, d.lane as delivery_lane
    from (select distinct lane from moved) e
    cross join lateral (
      select key, tenant from longshore.lane where shard = $1 and lane = e.lane limit 1
    ) l
    cross join lateral (
      select id, events, tags from longshore.webhook
      where tenant = l.tenant and status = 'active'
        and (definition_keys is null or l.key = any (definition_keys)) offset 0
    ) h
    cross join lateral (
      select lane from longshore.lane
      where shard = $1 and key = '${WEBHOOK_KEY}' and version = 1 and tenant = l.tenant limit 1
    ) d
    where left(l.key, 1) <> '$'
      and exists (select 1 from longshore.webhook where status = 'active')
  ),
  delivery as materialized (
    select longshore.new_job_id($1) as id, k.delivery_lane as lane, k.webhook, w.event, m.at, w.n,
      json_build_object('webhookId', k.webhook, 'event', w.event, 'jobId', m.id, 'at', m.at,
        'status', m.state, 'attempts', m.attempts, 'runAt', m.run_at, 'error', m.error) as params
    from listening k
    join moved m on m.lane = k.lane
    join (values (1, 'job.started', 'running'), (2, 'job.retrying', 'retrying'),
        (3, 'job.succeeded', 'succeeded'), (4, 'job.failed', 'failed'),
        (5, 'job.cancelled', 'cancelled'), (6, 'job.finished', 'succeeded'),
        (7, 'job.finished', 'failed'), (8, 'job.finished', 'cancelled')) as w(n, event, state)
      on w.event = any (k.events) and w.state = m.state::text
    where k.tags is null or longshore.tags_of($1, m.id) && k.tags
  ),
  delivery_body as (
    insert into longshore.job (shard, id, lane, params, parent_id, hook, created_at)
    select $1, id, lane, params, webhook, event, at from delivery
  ),
  delivery_line as (
    insert into longshore.waiting (shard, id, lane, state, rank, seq, max_attempts, queued_at)
    select $1, id, lane, 'queued', 0, (extract(epoch from at) * 1000000)::bigint + n,
      ${DELIVERY_MAX_ATTEMPTS}, at
    from delivery
    returning pg_notify('${WAKE_CHANNEL}', concat_ws(':', shard, lane, rank))
  )`;

const NOTHING_MORE = 'null::timestamptz as run_at, null::json as error';

/** For statements with the CTE `ended` of `store/hook-jobs.ts`. */
export const TELL_ENDED = tell(`
    select id, lane, state, finished_at as at, attempts, null::timestamptz as run_at, error
    from ended`);

export const TELL_SETTLED = tell(`
    select id, lane, next as state, at, attempts - given_back as attempts,
      case when next = 'retrying' then at + make_interval(secs => delay_ms / 1000.0) end as run_at,
      error::json as error
    from owned, clock where next in ('succeeded', 'failed', 'cancelled', 'retrying')`);

const TAKEN = `
    select id, lane, 'running'::longshore.job_state as state, clock_timestamp() as at,
      attempts + 1 as attempts, ${NOTHING_MORE}
    from picked`;

export const TELL_TAKEN = tell(TAKEN);

export const TELL_TURN = tell(`
    select id, lane, 'succeeded'::longshore.job_state as state, at, attempts, ${NOTHING_MORE}
    from owned, clock where (id in (select id from left_running)) is true
    union all ${TAKEN}`);

/**
 * Whether the tenant of a lane has a webhook that wants to hear of starts. Such jobs take the way over
 * their line, where the claim tells of it.
 */
export const startIsTold = (lane: string) => `exists (
    select 1 from longshore.webhook where status = 'active' and 'job.started' = any (events)
      and tenant = (select tenant from longshore.lane where shard = $1 and lane = ${lane}))`;
