import type { AlertRuleName } from '../../core/alert/alert.ts';
import type { QuietHours } from '../../core/alert/quiet-hours.ts';
import {
  ALERT_KEY,
  type AlertChannel,
  type AlertRouteSpec,
  type AlertRouteView,
  ROUTES_MAX,
} from '../../core/alert/route.ts';
import { changesOf } from '../../core/access/changes.ts';
import { type Actor, audit } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { findOrCreateQueue } from '../enqueue/queues.ts';
import { MESSAGE_SHARD } from './messages.ts';

/** Routes as users change them. The URL of a chat is neither shown nor written to the audit log. */

interface RouteRow {
  id: string;
  tenant: string;
  name: string;
  channel: AlertChannel;
  recipients: string[];
  url_host: string | null;
  rules: AlertRuleName[] | null;
  owners: string[] | null;
  definition_keys: string[] | null;
  quiet_hours: QuietHours | null;
  group_seconds: number;
  enabled: boolean;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `id, tenant, name, channel, recipients, url_host, rules, owners, definition_keys,
  quiet_hours, group_seconds, enabled, created_at, updated_at`;

const LIST = statement<RouteRow>(
  'list_alert_routes',
  `select ${COLUMNS} from longshore.alert_route where tenant = $1 order by name`,
);

export async function listRoutes(db: Queryable, tenant: string): Promise<AlertRouteView[]> {
  return (await db.run(LIST, [tenant])).map(viewOf);
}

const LOCK = statement<RouteRow & { url: string | null }>(
  'lock_alert_route',
  `select ${COLUMNS}, url from longshore.alert_route where tenant = $1 and name = $2 for update`,
);

const SAVE = statement<RouteRow>(
  'save_alert_route',
  `insert into longshore.alert_route as r (id, tenant, name, channel, recipients, url, url_host, rules,
     owners, definition_keys, quiet_hours, group_seconds, enabled)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12, $13)
   on conflict (tenant, name) do update set channel = excluded.channel,
     recipients = excluded.recipients, url = excluded.url, url_host = excluded.url_host,
     rules = excluded.rules, owners = excluded.owners, definition_keys = excluded.definition_keys,
     quiet_hours = excluded.quiet_hours, group_seconds = excluded.group_seconds,
     enabled = excluded.enabled, updated_at = clock_timestamp()
   returning ${COLUMNS}`,
);

/** A route that is switched off forgets what it had still to say. */
const FORGET = statement<{ alert_id: string }>(
  'forget_alert_notices',
  `update longshore.alert_route_notice n set due_at = null
   where n.route_id = $1 and n.due_at is not null
     and (select r.tenant from longshore.alert_route r where r.id = $1) = $2
   returning n.alert_id`,
);

export type SaveRouteRefusal = 'needs-url' | 'too-many';

/**
 * Creates or replaces a route. Without a URL a chat keeps the one it has, if the channel stays.
 */
export async function saveRoute(
  db: Db,
  by: Actor,
  tenant: string,
  name: string,
  spec: AlertRouteSpec,
  url: string | null,
): Promise<AlertRouteView | SaveRouteRefusal> {
  await findOrCreateQueue(db, MESSAGE_SHARD, ALERT_KEY, 1, tenant);
  return await db.transaction(async (tx) => {
    const [before] = await tx.run(LOCK, [tenant, name]);
    if (!before && (await tx.run(LIST, [tenant])).length >= ROUTES_MAX) return 'too-many';
    const kept = before?.channel === spec.channel ? before : null;
    const sealed = url === null ? (kept?.url ?? null) : tx.vault.sealText(tenant, url);
    if (spec.channel !== 'email' && sealed === null) return 'needs-url';
    const host = url === null ? (kept?.url_host ?? null) : new URL(url).host;
    const values = [tx.ids.next(0), tenant, name, spec.channel, spec.to, sealed, host];
    const quietHours = spec.quietHours === null ? null : JSON.stringify(spec.quietHours);
    const filters = [spec.rules, spec.owners, spec.definitionKeys];
    const rest = [...filters, quietHours, spec.groupSeconds, spec.enabled];
    const [row] = await tx.run(SAVE, [...values, ...rest]);
    if (!row) throw new Error('the route was not stored');
    if (!spec.enabled) await tx.run(FORGET, [row.id, tenant]);
    const entry = { tenant, action: 'alert-route.save', subject: name };
    const was = before ? auditable(before) : {};
    // Never the URL itself: everyone who knows it may write to the chat.
    const changed = url === null ? {} : { url: 'replaced' };
    await audit(tx, by, { ...entry, ...changesOf(was, { ...auditable(row), ...changed }) });
    return viewOf(row);
  });
}

const DELETE = statement<RouteRow>(
  'delete_alert_route',
  `delete from longshore.alert_route where tenant = $1 and name = $2 returning ${COLUMNS}`,
);

/** Messages that were not sent yet find it deleted, and end. False when there was none. */
export async function deleteRoute(
  db: Db,
  by: Actor,
  tenant: string,
  name: string,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const [gone] = await tx.run(DELETE, [tenant, name]);
    const entry = { tenant, action: 'alert-route.delete', subject: name };
    if (gone) await audit(tx, by, { ...entry, before: auditable(gone) });
    return gone !== undefined;
  });
}

function auditable(row: RouteRow): AlertRouteSpec & { urlHost: string | null } {
  const { name: _name, tenant: _tenant, createdAt: _made, updatedAt: _at, ...spec } = viewOf(row);
  return spec;
}

function viewOf(row: RouteRow): AlertRouteView {
  return {
    name: row.name,
    tenant: row.tenant,
    channel: row.channel,
    to: row.recipients,
    urlHost: row.url_host,
    rules: row.rules,
    owners: row.owners,
    definitionKeys: row.definition_keys,
    quietHours: row.quiet_hours,
    groupSeconds: row.group_seconds,
    enabled: row.enabled,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
