import type { AlertView } from '../../core/views/alert.ts';
import type { Firing } from '../../core/views/alert-rules.ts';
import {
  DELIVERY_MAX_ATTEMPTS,
  WEBHOOK_KEY,
  type WebhookEvent,
} from '../../core/webhook/webhook.ts';
import { ALERT_COLUMNS, type AlertRow, viewOfAlert } from './alerts.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { moves, counters } from './counter-moves.ts';
import { sendWakeHint } from '../connection/wake.ts';

/**
 * An alert fires once and is resolved once, although two schedulers may look at the same time, each
 * believing that it is the one who should. Of two that insert it, the unique index of what fires lets one
 * in; the other only notes that it saw it, too. Of two that resolve it, the second finds it resolved.
 * Whoever did it tells the webhooks in the same transaction, by deliveries like those of jobs, so nothing
 * is told twice and nothing is left untold.
 */

/** Deliveries of alerts wait in the first shard, since an alert has none. */
const SHARD = 0;

const FIRE = statement<AlertRow>(
  'fire_alerts',
  `insert into longshore.alert as a (id, tenant, rule, subject, definition_key, schedule_id, job_id,
     value, threshold, message, fired_at, seen_at)
   select i.id, i.tenant, i.rule, i.subject, i.definition_key, i.schedule_id, i.job_id, i.value,
     i.threshold, i.message, c.at, c.at
   from json_to_recordset($1::json) as i(id uuid, tenant text, rule text, subject text,
     definition_key text, schedule_id uuid, job_id uuid, value float8, threshold float8, message text)
   cross join (select clock_timestamp() as at) c
   order by i.tenant, i.rule, i.subject
   on conflict (tenant, rule, subject) where resolved_at is null do update
     set value = excluded.value, threshold = excluded.threshold, message = excluded.message,
       job_id = excluded.job_id, seen_at = greatest(a.seen_at, excluded.seen_at)
   returning ${ALERT_COLUMNS}`,
);

/** Answers with those that were not firing before. */
export async function fireAlerts(db: Db, firing: readonly Firing[]): Promise<AlertView[]> {
  if (firing.length === 0) return [];
  const rows = firing.map((one) => ({
    id: db.ids.next(SHARD),
    tenant: one.tenant,
    rule: one.rule,
    subject: one.subject,
    definition_key: one.definitionKey,
    schedule_id: one.scheduleId,
    job_id: one.jobId,
    value: one.value,
    threshold: one.threshold,
    message: one.message,
  }));
  // One that fired already keeps the id that it got then.
  const own = new Set(rows.map(({ id }) => id));
  return await told(db, 'alert.fired', async (tx) =>
    (await tx.run(FIRE, [JSON.stringify(rows)])).filter(({ id }) => own.has(id)),
  );
}

const RESOLVE = statement<AlertRow>(
  'resolve_alerts',
  `update longshore.alert set resolved_at = clock_timestamp()
   where resolved_at is null and id = any (array(
     select a.id from longshore.alert a
     where a.resolved_at is null
       and a.seen_at <= (select clock_timestamp()) - make_interval(secs => $1::float8 / 1000)
     order by a.seen_at limit $2 for update skip locked))
   returning ${ALERT_COLUMNS}`,
);

/** Resolves the alerts that no check has confirmed for a while. */
export async function resolveAlerts(db: Db, unseenMs: number, limit: number): Promise<AlertView[]> {
  return await told(db, 'alert.resolved', async (tx) => tx.run(RESOLVE, [unseenMs, limit]));
}

const TELL = statement<{ queue: number }>(
  'tell_alerts',
  `with clock as materialized (select clock_timestamp() as at),
   d as materialized (
     select longshore.new_job_id($1::smallint) as id, l.queue, h.id as webhook, c.at,
       json_build_object('webhookId', h.id, 'event', $2::text, 'jobId', null, 'at', c.at,
         'alert', i.alert) as params
     from clock c
     cross join json_to_recordset($3::json) as i(tenant text, definition_key text, alert json)
     join longshore.webhook h on h.tenant = i.tenant and h.status = 'active'
       and $2 = any (h.events) and (h.definition_keys is null or i.definition_key is null
         or i.definition_key = any (h.definition_keys))
     cross join lateral (
       select queue from longshore.queue
       where shard = $1 and key = '${WEBHOOK_KEY}' and version = 1 and tenant = h.tenant limit 1
     ) l
   ),
   body as (
     insert into longshore.job (shard, id, queue, params, parent_id, hook, created_at)
     select $1, id, queue, params, webhook, $2, at from d
   ),
   line as (
     insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
     select $1, id, queue, 'queued', 0, (extract(epoch from at) * 1000000)::bigint,
       ${DELIVERY_MAX_ATTEMPTS}, at
     from d
   ),
   ${counters(moves('null', "'queued'", 'd'))}
   select distinct queue from d`,
);

async function told(
  db: Db,
  event: WebhookEvent,
  change: (tx: Queryable) => Promise<AlertRow[]>,
): Promise<AlertView[]> {
  const { alerts, queues } = await withPartitions(db, async () =>
    db.transaction(async (tx) => {
      const views = (await change(tx)).map(viewOfAlert);
      const rows = views.map((alert) => ({
        tenant: alert.tenant,
        definition_key: alert.definitionKey,
        alert,
      }));
      const deliveries =
        rows.length === 0 ? [] : await tx.run(TELL, [SHARD, event, JSON.stringify(rows)]);
      return { alerts: views, queues: deliveries.map(({ queue }) => queue) };
    }),
  );
  const hints = queues.map((queue) => ({ shard: SHARD, queue, rank: 0 }));
  if (hints.length > 0) await sendWakeHint(db, hints).catch(() => undefined);
  return alerts;
}

const FIRING = statement<{ tenant: string; message: string; total: number }>(
  'list_firing',
  `select tenant, message, count(*) over ()::int as total from longshore.alert
   where resolved_at is null order by seen_at desc, id limit $1`,
);

/** What fires now, of all tenants: some of it, and how much there is. */
export async function listFiring(
  db: Queryable,
  limit: number,
): Promise<{ messages: string[]; total: number }> {
  const rows = await db.run(FIRING, [limit]);
  return { messages: rows.map(({ message }) => message), total: rows[0]?.total ?? 0 };
}

const PRUNE = statement<{ id: string }>(
  'prune_alerts',
  `delete from longshore.alert where id = any (array(
     select a.id from longshore.alert a
     where a.resolved_at < (select clock_timestamp()) - make_interval(hours => 24 * $1::int)
     order by a.resolved_at limit $2))
   returning id`,
);

/** Forgets alerts that were resolved so long ago, at most `batch` of them; says how many. */
export async function pruneAlerts(db: Queryable, days: number, batch: number): Promise<number> {
  return (await db.run(PRUNE, [days, batch])).length;
}
