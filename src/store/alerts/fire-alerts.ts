import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import type { AlertRuleName, AlertView } from '../../core/alert/alert.ts';
import type { Firing } from '../../core/alert/alert-rules.ts';
import {
  DELIVERY_MAX_ATTEMPTS,
  WEBHOOK_KEY,
  type WebhookEvent,
} from '../../core/webhook/webhook.ts';
import { ALERT_COLUMNS, type AlertRow, viewOfAlert } from './alerts.ts';
import { arrayText, type Db, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { moves, counters } from '../counters/counter-moves.ts';
import { addNotices, resolveNotices } from './notices.ts';
import { sendWakeHint } from '../connection/wake.ts';

/**
 * An alert fires once and is resolved once, even if two schedulers evaluate it at the same time.
 * Of two inserts, the unique index of firing alerts accepts one; the other only updates `seen_at`.
 * Of two that resolve it, the second finds it resolved. The same transaction creates the
 * deliveries of webhooks and the notices of routes (`store/alerts/notices.ts`), so each event is sent
 * exactly once.
 */

/** Deliveries of alerts wait in the first shard, since an alert has none. */
const SHARD = 0;

const FIRE = statement<AlertRow>(
  'fire_alerts',
  `insert into longshore.alert as a (id, tenant, rule, subject, severity, definition_key, schedule_id,
     webhook_id, job_id, value, threshold, message, fired_at, seen_at, owner, runbook_url,
     silenced_until, silenced_by)
   select i.id, i.tenant, i.rule, i.subject, i.severity, i.definition_key, i.schedule_id, i.webhook_id,
     i.job_id, i.value, i.threshold, i.message, c.at, c.at, d.owner, d.runbook_url,
     s.silenced_until, s.silenced_by
   from json_to_recordset($1::json) as i(id uuid, tenant text, rule text, subject text, severity text,
     definition_key text, schedule_id uuid, webhook_id uuid, job_id uuid, value float8, threshold float8, message text)
   cross join (select clock_timestamp() as at) c
   left join lateral (
     select d.info ->> 'owner' as owner, d.info ->> 'runbookUrl' as runbook_url
     from longshore.definition d
     where d.key = i.definition_key and d.tenant in ('${DEFAULT_TENANT}', i.tenant)
     order by d.published_at desc, d.version desc limit 1
   ) d on true
   left join lateral (
     select s.silenced_until, s.silenced_by from longshore.alert s
     where s.tenant = i.tenant and s.rule = i.rule and s.subject = i.subject
       and s.silenced_until > c.at
     order by s.silenced_until desc limit 1
   ) s on true
   order by i.tenant, i.rule, i.subject
   on conflict (tenant, rule, subject) where resolved_at is null do update
     set value = excluded.value, threshold = excluded.threshold, message = excluded.message,
       severity = excluded.severity, job_id = excluded.job_id, seen_at = greatest(a.seen_at, excluded.seen_at)
   returning ${ALERT_COLUMNS}`,
);

const CONFIRM = statement<{ id: string }>(
  'confirm_alerts',
  `update longshore.alert a set seen_at = greatest(a.seen_at, clock_timestamp())
   where a.resolved_at is null and a.id = any (array(
     select b.id from json_to_recordset($1::json) as i(tenant text, rule text, subject text)
     join longshore.alert b on b.tenant = i.tenant and b.rule = i.rule and b.subject = i.subject
       and b.resolved_at is null
     order by b.id for update of b skip locked))
   returning a.id`,
);

/** Returns those that did not fire before. */
export async function fireAlerts(db: Db, found: readonly Firing[]): Promise<AlertView[]> {
  const confirming = found
    .filter(({ onlyConfirms }) => onlyConfirms)
    .map(({ tenant, rule, subject }) => ({ tenant, rule, subject }));
  if (confirming.length > 0) await db.run(CONFIRM, [JSON.stringify(confirming)]);
  const firing = found.filter(({ onlyConfirms }) => !onlyConfirms);
  if (firing.length === 0) return [];
  const rows = firing.map((one) => ({
    id: db.ids.next(SHARD),
    tenant: one.tenant,
    rule: one.rule,
    subject: one.subject,
    severity: one.severity,
    definition_key: one.definitionKey,
    schedule_id: one.scheduleId,
    webhook_id: one.webhookId ?? null,
    job_id: one.jobId,
    value: one.value,
    threshold: one.threshold,
    message: one.message,
  }));
  // One that fired already keeps the id that it got then.
  const own = new Set(rows.map(({ id }) => id));
  return await withDeliveries(db, 'alert.fired', async (tx) =>
    (await tx.run(FIRE, [JSON.stringify(rows)])).filter(({ id }) => own.has(id)),
  );
}

const RESOLVE = statement<AlertRow>(
  'resolve_alerts',
  `update longshore.alert set resolved_at = clock_timestamp()
   where resolved_at is null and id = any (array(
     select a.id from longshore.alert a
     where a.resolved_at is null
       and a.seen_at <= (select clock_timestamp()) - make_interval(secs => $2::float8 / 1000)
       and (a.rule = any ($3::text[])
         or a.seen_at <= (select clock_timestamp()) - make_interval(secs => $1::float8 / 1000))
     order by a.seen_at limit $4 for update skip locked))
   returning ${ALERT_COLUMNS}`,
);

/**
 * An age starts again at zero, and a stuck job that ended does not come back, so they do not waver
 * around their threshold: one check without it resolves the alert.
 */
const STEADY = arrayText(['oldest-age', 'unserved', 'stuck'] satisfies AlertRuleName[]);

/** Resolves the alerts that no check has confirmed for a while, the steady ones sooner. */
export async function resolveAlerts(
  db: Db,
  unseenMs: number,
  limit: number,
  unseenAgeMs = unseenMs,
): Promise<AlertView[]> {
  const soonestMs = Math.min(unseenMs, unseenAgeMs);
  return await withDeliveries(db, 'alert.resolved', async (tx) =>
    tx.run(RESOLVE, [unseenMs, soonestMs, STEADY, limit]),
  );
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

async function withDeliveries(
  db: Db,
  event: WebhookEvent,
  change: (tx: Queryable) => Promise<AlertRow[]>,
): Promise<AlertView[]> {
  const { alerts, queues } = await withPartitions(db, async () =>
    db.transaction(async (tx) => {
      const views = (await change(tx)).map(viewOfAlert);
      await (event === 'alert.fired' ? addNotices : resolveNotices)(tx, views);
      const rows = views
        .filter(({ silenced }) => silenced === null)
        .map((alert) => ({
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

/** Some of the firing alerts of all tenants, and their number. */
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

/** Deletes at most `batch` alerts that were resolved long ago; returns how many. */
export async function pruneAlerts(db: Queryable, days: number, batch: number): Promise<number> {
  return (await db.run(PRUNE, [days, batch])).length;
}
