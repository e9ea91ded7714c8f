import type { WebhookFormat, WebhookStatus } from '../../core/webhook/webhook.ts';
import { NOW_WITHIN } from '../connection/backend.ts';
import { arrayText, type Db, type Queryable, statement } from '../connection/db.ts';
import { changeSubscriptions } from '../claim/subscribed-queues.ts';

/** Webhooks as workers read and update them, for all tenants. */

export interface Endpoint {
  id: string;
  tenant: string;
  url: string;
  format: WebhookFormat;
  status: WebhookStatus;
  /** Sends in a row that have failed. */
  failures: number;
  /** For signing, the newest first. */
  secrets: string[];
}

const FIND = statement<Endpoint & { delivery: string }>(
  'find_endpoints',
  `select j.id as delivery, h.id, h.tenant, h.url, h.format, h.status, h.failures,
     array_remove(array[h.secret,
       case when h.previous_until > clock_timestamp() then h.previous_secret end], null) as secrets
   from unnest($2::uuid[]) as wanted(id)
   cross join lateral (
     select id, queue, parent_id from longshore.job where shard = $1 and id = wanted.id limit 1
   ) j
   join lateral (
     select tenant from longshore.queue where shard = $1 and queue = j.queue limit 1
   ) l on true
   join longshore.webhook h on h.id = j.parent_id and h.tenant = l.tenant`,
);

/**
 * The webhooks of deliveries, by the ids of these. A webhook must belong to the tenant of the delivery.
 * The row of the job decides, not its params: a user who edits params must not choose the signing secret.
 */
export async function findEndpoints(
  db: Queryable,
  shard: number,
  deliveryIds: readonly string[],
): Promise<Map<string, Endpoint>> {
  const rows = await db.run(FIND, [shard, arrayText(deliveryIds)]);
  return new Map(
    rows.map(({ delivery, ...row }) => {
      const secrets = row.secrets.map((secret) => db.vault.openText(row.tenant, secret));
      return [delivery, { ...row, secrets }];
    }),
  );
}

const DELIVERED = statement<{ id: string }>(
  'webhook_delivered',
  `update longshore.webhook set failures = 0, failing_since = null, last_error = null
   where id = $1 and failures > 0 returning id`,
);

/** Only after a failure: most deliveries save this statement. */
export async function noteDelivered(db: Queryable, id: string): Promise<void> {
  await db.run(DELIVERED, [id]);
}

const FAILED = statement<{ failures: number; failingMs: number }>(
  'webhook_failed',
  `update longshore.webhook
   set failures = failures + 1, failing_since = coalesce(failing_since, ${NOW_WITHIN}),
     last_error = $2
   where id = $1
   returning failures,
     (extract(epoch from ${NOW_WITHIN} - failing_since) * 1000)::float8 as "failingMs"`,
);

/** How long it has been failing; null when it is deleted. */
export async function noteFailed(
  db: Queryable,
  id: string,
  why: string,
): Promise<{ failures: number; failingMs: number } | null> {
  return (await db.run(FAILED, [id, why]))[0] ?? null;
}

/** The first reason is kept. */
const STOP = statement<{ id: string }>(
  'stop_webhook',
  `update longshore.webhook set status = $2, notice = $3, updated_at = clock_timestamp()
   where id = $1 and status = 'active' returning id`,
);

export async function stopWebhook(
  db: Db,
  { id, tenant }: Pick<Endpoint, 'id' | 'tenant'>,
  status: Exclude<WebhookStatus, 'active'>,
  notice: string,
): Promise<void> {
  await changeSubscriptions(db, tenant, async (tx) => await tx.run(STOP, [id, status, notice]));
}
