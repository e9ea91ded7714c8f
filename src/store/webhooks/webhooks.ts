import { changesOf } from '../../core/access/changes.ts';
import {
  WEBHOOK_KEY,
  type WebhookEvent,
  type WebhookSpec,
  type WebhookStatus,
  type WebhookView,
} from '../../core/webhook/webhook.ts';
import { type Actor, audit } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { findOrCreateQueue } from '../enqueue/queues.ts';
import { changeListeners } from '../claim/subscribed-queues.ts';

/**
 * Webhooks as people make and change them. The secret goes in when it is made and never comes out again;
 * neither it nor the path of the URL, where many services keep a token, is written into the audit log.
 */

interface WebhookRow {
  id: string;
  tenant: string;
  url: string;
  description: string | null;
  events: WebhookEvent[];
  definition_keys: string[] | null;
  tags: string[] | null;
  status: WebhookStatus;
  notice: string | null;
  failures: number;
  failing_since: Date | null;
  previous_until: Date | null;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `id, tenant, url, description, events, definition_keys, tags, status, notice, failures,
  failing_since, case when previous_until > clock_timestamp() then previous_until end
    as previous_until, created_at, updated_at`;

const INSERT = statement<WebhookRow>(
  'insert_webhook',
  `insert into longshore.webhook (id, tenant, url, description, events, definition_keys, tags, secret)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   returning ${COLUMNS}`,
);

/** The queues come first: what is told from now on needs a place to wait, whichever shard it is in. */
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
  return await changeListeners(db, tenant, async (tx) => {
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

const LIST = statement<WebhookRow>(
  'list_webhooks',
  `select ${COLUMNS} from longshore.webhook where tenant = $1 order by id`,
);

export async function listWebhooks(db: Queryable, tenant: string): Promise<WebhookView[]> {
  return (await db.run(LIST, [tenant])).map(viewOf);
}

const GET = statement<WebhookRow>(
  'get_webhook',
  `select ${COLUMNS} from longshore.webhook where tenant = $1 and id = $2`,
);

export async function getWebhook(
  db: Queryable,
  tenant: string,
  id: string,
): Promise<WebhookView | null> {
  const [row] = await db.run(GET, [tenant, id]);
  return row ? viewOf(row) : null;
}

const LOCK = statement<WebhookRow>('lock_webhook', `${GET.text} for update`);

/** A webhook that is made active again begins with a clean slate. */
const UPDATE = statement<WebhookRow>(
  'update_webhook',
  `update longshore.webhook
   set url = $3, description = $4, events = $5, definition_keys = $6, tags = $7, status = $8,
     notice = case when $8 = status then notice when $8 = 'paused' then 'paused by hand' end,
     failures = case when $8 = 'active' and status <> 'active' then 0 else failures end,
     failing_since = case when $8 = 'active' and status <> 'active' then null
       else failing_since end,
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
  return await changeListeners(db, tenant, async (tx) => {
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

/** What waits to be sent finds it gone, and ends. */
export async function deleteWebhook(
  db: Db,
  by: Actor,
  tenant: string,
  id: string,
): Promise<boolean> {
  return await changeListeners(db, tenant, async (tx) => {
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

/** Until when the old secret signs as well; null when there is no such webhook. */
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

function columnsOf({ url, description, events, definitionKeys, tags }: WebhookSpec): unknown[] {
  return [url, description, events, definitionKeys, tags];
}

function specOf({ url, description, events, definitionKeys, tags }: WebhookView): WebhookSpec {
  return { url, description, events, definitionKeys, tags };
}

function auditable<Spec extends WebhookSpec>(spec: Spec): Spec {
  return { ...spec, url: new URL(spec.url).origin };
}

function viewOf(row: WebhookRow): WebhookView {
  return {
    id: row.id,
    tenant: row.tenant,
    url: row.url,
    description: row.description,
    events: row.events,
    definitionKeys: row.definition_keys,
    tags: row.tags,
    status: row.status,
    notice: row.notice,
    failures: row.failures,
    failingSince: row.failing_since?.toISOString() ?? null,
    previousSecretUntil: row.previous_until?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
