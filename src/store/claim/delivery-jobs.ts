import { DELIVERY_MAX_ATTEMPTS } from '../../core/webhook/webhook.ts';
import { piece } from '../connection/backend.ts';
import { WAKE_CHANNEL } from '../connection/wake.ts';

const DELIVERY = `delivery as (
    insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
    select $1, longshore.new_delivery($1, k.queue, k.webhook, k.event, m.id, m.at, m.state,
        m.attempts, m.run_at, m.error),
      k.queue, 'queued', 0, (extract(epoch from m.at) * 1000000)::bigint,
      ${DELIVERY_MAX_ATTEMPTS}, m.at
    from (select distinct queue from moved) e
    cross join lateral longshore.subscribed_webhooks($1, e.queue) k
    join moved m on m.queue = e.queue and m.state = k.state
    where (k.tags is null or longshore.tags_of($1, m.id) && k.tags)
      and exists (select 1 from longshore.webhook where status = 'active')
    returning queue, pg_notify('${WAKE_CHANNEL}', concat_ws(':', shard, queue, rank))
  )`;

/**
 * The same for Citus, where a statement calls no function that reads or writes. It sends no hint: a node
 * cannot reach those who listen at the coordinator. The next poll of a worker finds the deliveries.
 */
const DELIVERY_ON_CITUS = `letter as materialized (
    select longshore.new_job_id($1) as letter, d.queue as to_queue, h.id as webhook, w.event, m.id, m.at,
      m.state, m.attempts, m.run_at, m.error
    from moved m
    join longshore.queue q on q.shard = $1 and q.queue = m.queue and left(q.key, 1) <> '$'
    join longshore.webhook h on h.tenant = q.tenant and h.status = 'active'
      and (h.definition_keys is null or q.key = any (h.definition_keys))
    join longshore.queue d on d.shard = $1 and d.key = '$webhook' and d.version = 1
      and d.tenant = q.tenant
    join longshore.job_events() w on w.event = any (h.events) and w.state = m.state
    where h.tags is null
      or (select b.tags from longshore.job b where b.shard = $1 and b.id = m.id) && h.tags
  ),
  letter_body as (
    insert into longshore.job (shard, id, queue, params, parent_id, hook, created_at)
    select $1, letter, to_queue, json_build_object('webhookId', webhook, 'event', event, 'jobId', id,
      'at', at, 'status', state, 'attempts', attempts, 'runAt', run_at, 'error', error), webhook,
      event, at
    from letter
  ),
  delivery as (
    insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
    select $1, letter, to_queue, 'queued', 0, (extract(epoch from at) * 1000000)::bigint,
      ${DELIVERY_MAX_ATTEMPTS}, at
    from letter
    returning queue
  )`;

/**
 * Makes the deliveries of webhooks: a part of the statements whose moves a webhook may subscribe to. Move and
 * delivery are one commit, so no event is lost and none is sent for a move that did not happen. The params
 * are `DeliveryParams` of `core/webhook/webhook-event.ts`.
 *
 * Plain claims and `settleAndClaim` leave this part out (`store/claim/subscribed-queues.ts`). The others
 * check once per statement whether any webhook is active; while none is, nothing else runs. If one is, the
 * subscriptions are read once per queue of the batch. Functions do the rest (the section of webhooks in sql/migrations/0001_schema.sql),
 * which keeps the statement short to plan: 0.05 to 0.1 ms per statement without subscribers.
 *
 * The statement itself notifies workers, one message per queue of deliveries, since a claim has no other way
 * to do so. Only statements that make deliveries pay for the lock that a commit with NOTIFY takes.
 *
 * `moved` is a query for what moved: id, queue, state, at, attempts, run_at, error. Where it also has was,
 * code and since, the counters are made from it (`store/counters/counter-moves.ts`).
 */
const deliveriesOf = (moved: string) => `
  moved as materialized (${moved}),
  ${piece(DELIVERY, DELIVERY_ON_CITUS)}`;

const NOTHING_MORE = 'null::timestamptz as run_at, null::json as error';

/** For statements with the CTE `ended` of `store/claim/hook-jobs.ts`. */
export const DELIVERIES_OF_ENDED = deliveriesOf(`
    select id, queue, state, finished_at as at, attempts, null::timestamptz as run_at, error
    from ended`);

export const DELIVERIES_OF_SETTLED = deliveriesOf(`
    select id, queue, state as was, next as state, at, started_at as since, error_code as code,
      attempts - attempt_refunded as attempts,
      case when next = 'retrying' then at + make_interval(secs => delay_ms / 1000.0) end as run_at,
      error::json as error, cpu_ms, peak_rss_bytes
    from owned, clock`);

const taken = (rows: string) => `
    select id, queue, state as was, 'running'::longshore.job_state as state, clock_timestamp() as at,
      queued_at as since, null as code, attempts + 1 as attempts, ${NOTHING_MORE}
    from ${rows}`;

/** For claims, by the rows that they took. */
export const deliveriesOfClaimed = (rows: string) => deliveriesOf(taken(rows));
