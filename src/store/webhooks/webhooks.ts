import { changesOf } from '../../core/access/changes.ts';
import {
  WEBHOOK_KEY,
  type WebhookEvent,
  type WebhookFormat,
  type WebhookSpec,
  type WebhookStatus,
  type WebhookView,
} from '../../core/webhook/webhook.ts';
import { type Actor, audit } from '../access/audit.ts';
import { NOW_WITHIN } from '../connection/backend.ts';
import { type Db, statement } from '../connection/db.ts';
import { findOrCreateQueue } from '../enqueue/queues.ts';
import { countWaitingEvents } from './failing-webhooks.ts';
import { changeSubscriptions } from '../claim/subscribed-queues.ts';

/**
 * Webhooks as users create and change them. The secret is returned only at creation. Neither it
 * nor the path of the URL, where many services put a token, is written to the audit log.
 */

interface WebhookRow {
  id: string;
  tenant: string;
  url: string;
  format: WebhookFormat;
  description: string | null;
  events: WebhookEvent[];
  definition_keys: string[] | null;
  tags: string[] | null;
  status: WebhookStatus;
  notice: string | null;
  failures: number;
  failing_since: Date | null;
  last_error: string | null;
  previous_until: Date | null;
  created_at: Date;
  updated_at: Date;
}

const columns = (
  previousUntil: string,
) => `id, tenant, url, format, description, events, definition_keys, tags, status, notice, failures,
  failing_since, last_error, ${previousUntil}
    as previous_until, created_at, updated_at`;
const COLUMNS = columns(`case when previous_until > ${NOW_WITHIN} then previous_until end`);

const INSERT = statement<WebhookRow>(
  'insert_webhook',
  `insert into longshore.webhook
     (id, tenant, url, description, events, definition_keys, tags, format, secret)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   returning ${columns('null::timestamptz')}`,
);

/** The queues of deliveries are created first, in every shard. */
export async function createWebhook(
  db: Db,
  by: Actor,
  tenant: string,
  spec: WebhookSpec,
  secret: string,
): Promise<WebhookView> {
  for (let shard = 0; shard < db.shards; shard += 1) {
    await findOrCreateQueue(db, shard, WEBHOOK_KEY, 1, tenant);
  }
  return await changeSubscriptions(db, tenant, async (tx) => {
    const sealed = tx.vault.sealText(tenant, secret);
    const values = [tx.ids.next(0), tenant, ...columnsOf(spec), sealed];
    const [row] = await tx.run(INSERT, values);
    if (!row) throw new Error('the webhook was not stored');
    const made = viewOf(row);
    const after = auditable(specOf(made));
    await audit(tx, by, { tenant, action: 'webhook.create', subject: made.id, after });
    return made;
  });
}

/** Of more failing webhooks the waiting events are not counted. */
const COUNTED_MAX = 20;

const LIST = statement<WebhookRow>(
  'list_webhooks',
  `select ${COLUMNS} from longshore.webhook where tenant = $1 order by id`,
);

export async function listWebhooks(db: Db, tenant: string): Promise<WebhookView[]> {
  return await withWaiting(db, (await db.run(LIST, [tenant])).map(viewOf));
}

/** Counts what failing webhooks have still to send. */
async function withWaiting(db: Db, webhooks: readonly WebhookView[]): Promise<WebhookView[]> {
  const failing = webhooks.filter(({ failures }) => failures > 0).slice(0, COUNTED_MAX);
  const waiting = await countWaitingEvents(
    db,
    failing.map(({ id }) => id),
  );
  return webhooks.map((one) => ({ ...one, waitingEvents: waiting.get(one.id) ?? null }));
}

const GET = statement<WebhookRow>(
  'get_webhook',
  `select ${COLUMNS} from longshore.webhook where tenant = $1 and id = $2`,
);

export async function getWebhook(db: Db, tenant: string, id: string): Promise<WebhookView | null> {
  const [row] = await db.run(GET, [tenant, id]);
  if (!row) return null;
  const [view] = await withWaiting(db, [viewOf(row)]);
  return view ?? null;
}

const LOCK = statement<WebhookRow>('lock_webhook', `${GET.text} for update`);

const BY_HAND = 'paused by hand';
const STARTS_ANEW = `$9 = 'active' and status <> 'active' and notice is distinct from '${BY_HAND}'`;

/**
 * A webhook that was disabled or paused because of its failures starts without them. One that was
 * paused by hand keeps them: nothing has shown that its receiver works.
 */
const UPDATE = statement<WebhookRow>(
  'update_webhook',
  `update longshore.webhook
   set url = $3, description = $4, events = $5, definition_keys = $6, tags = $7, format = $8,
     status = $9,
     notice = case when $9 = status then notice when $9 = 'paused' then '${BY_HAND}' end,
     failures = case when ${STARTS_ANEW} then 0 else failures end,
     failing_since = case when ${STARTS_ANEW} then null else failing_since end,
     last_error = case when ${STARTS_ANEW} then null else last_error end,
     updated_at = clock_timestamp()
   where tenant = $1 and id = $2 returning ${COLUMNS}`,
);

export type WebhookChange = Partial<WebhookSpec> & { status?: WebhookStatus | undefined };

/** Null when there is no such webhook. */
export async function changeWebhook(
  db: Db,
  by: Actor,
  tenant: string,
  id: string,
  change: WebhookChange,
): Promise<WebhookView | null> {
  return await changeSubscriptions(db, tenant, async (tx) => {
    const [row] = await tx.run(LOCK, [tenant, id]);
    if (!row) return null;
    const before = viewOf(row);
    const spec = { ...specOf(before), ...change };
    const status = change.status ?? before.status;
    const [changed] = await tx.run(UPDATE, [tenant, id, ...columnsOf(spec), status]);
    const entry = { tenant, action: 'webhook.change', subject: id };
    const was = auditable({ ...specOf(before), status: before.status });
    await audit(tx, by, { ...entry, ...changesOf(was, auditable({ ...spec, status })) });
    return changed ? viewOf(changed) : null;
  });
}

const DELETE = statement<{ id: string }>(
  'delete_webhook',
  'delete from longshore.webhook where tenant = $1 and id = $2 returning id',
);

/** Waiting deliveries find it deleted, and end. */
export async function deleteWebhook(
  db: Db,
  by: Actor,
  tenant: string,
  id: string,
): Promise<boolean> {
  return await changeSubscriptions(db, tenant, async (tx) => {
    const [gone] = await tx.run(DELETE, [tenant, id]);
    if (gone) await audit(tx, by, { tenant, action: 'webhook.delete', subject: id });
    return gone !== undefined;
  });
}

const ROTATE = statement<{ previousUntil: Date }>(
  'rotate_webhook_secret',
  `update longshore.webhook
   set previous_secret = secret, secret = $3, updated_at = clock_timestamp(),
     previous_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
   where tenant = $1 and id = $2 returning previous_until as "previousUntil"`,
);

/** Returns until when the old secret signs as well; null when there is no such webhook. */
export async function rotateSecret(
  db: Db,
  by: Actor,
  tenant: string,
  id: string,
  secret: string,
  overlapMs: number,
): Promise<Date | null> {
  return await db.transaction(async (tx) => {
    const sealed = tx.vault.sealText(tenant, secret);
    const [rotated] = await tx.run(ROTATE, [tenant, id, sealed, overlapMs]);
    const entry = { tenant, action: 'webhook.rotate', subject: id, after: { overlapMs } };
    if (rotated) await audit(tx, by, entry);
    return rotated?.previousUntil ?? null;
  });
}

function columnsOf(spec: WebhookSpec): unknown[] {
  const { url, description, events, definitionKeys, tags, format } = spec;
  return [url, description, events, definitionKeys, tags, format];
}

function specOf(view: WebhookView): WebhookSpec {
  const { url, format, description, events, definitionKeys, tags } = view;
  return { url, format, description, events, definitionKeys, tags };
}

function auditable<Spec extends WebhookSpec>(spec: Spec): Spec {
  return { ...spec, url: new URL(spec.url).origin };
}

function viewOf(row: WebhookRow): WebhookView {
  return {
    id: row.id,
    tenant: row.tenant,
    url: row.url,
    format: row.format,
    description: row.description,
    events: row.events,
    definitionKeys: row.definition_keys,
    tags: row.tags,
    status: row.status,
    notice: row.notice,
    failures: row.failures,
    failingSince: row.failing_since?.toISOString() ?? null,
    lastError: row.last_error,
    waitingEvents: null,
    previousSecretUntil: row.previous_until?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
