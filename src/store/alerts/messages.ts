import { messageText } from '../../core/alert/message-text.ts';
import {
  ALERT_KEY,
  type AlertMessage,
  type AlertMessageView,
  MESSAGE_DELAYS_MS,
  type MessageKind,
} from '../../core/alert/route.ts';
import type { JobState } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import type { Chat } from '../../core/webhook/chat.ts';
import type { Send } from '../../core/webhook/webhook.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { sendWakeHint } from '../connection/wake.ts';
import { counters, moves } from '../counters/counter-moves.ts';
import { type Actor, audit } from '../access/audit.ts';
import { sentJobs, STATUS_OF } from '../webhooks/deliveries.ts';

/**
 * Messages are jobs whose parent is their route (`webhooks/alert-message.ts`). They wait in the first
 * shard, since an alert has none.
 */
export const MESSAGE_SHARD = 0;

export interface NewMessage {
  tenant: string;
  routeId: string;
  message: AlertMessage;
}

const MAKE = statement<{ id: string; queue: number }>(
  'make_alert_messages',
  `with clock as materialized (select clock_timestamp() as at),
   d as materialized (
     select i.id, l.queue, i.route, i.message, c.at
     from clock c
     cross join json_to_recordset($2::json) as i(id uuid, tenant text, route uuid, message json)
     cross join lateral (
       select queue from longshore.queue
       where shard = $1 and key = '${ALERT_KEY}' and version = 1 and tenant = i.tenant limit 1
     ) l
   ),
   body as (
     insert into longshore.job (shard, id, queue, params, parent_id, hook, created_at)
     select $1, id, queue, message, route, message ->> 'kind', at from d
   ),
   line as (
     insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
     select $1, id, queue, 'queued', 0, (extract(epoch from at) * 1000000)::bigint,
       case when message ->> 'kind' = 'test' then 1 else ${MESSAGE_DELAYS_MS.length + 1} end, at
     from d
   ),
   ${counters(moves('null', "'queued'", 'd'))}
   select id, queue from d`,
);

/** Returns the ids, and the queues to wake after the commit. */
export async function makeMessages(
  tx: Queryable,
  messages: readonly NewMessage[],
): Promise<{ id: string; queue: number }[]> {
  if (messages.length === 0) return [];
  const rows = messages.map(({ tenant, routeId, message }) => {
    return { id: tx.ids.next(MESSAGE_SHARD), tenant, route: routeId, message };
  });
  return await tx.run(MAKE, [MESSAGE_SHARD, JSON.stringify(rows)]);
}

export async function wakeSenders(db: Db, made: readonly { queue: number }[]): Promise<void> {
  const queues = [...new Set(made.map(({ queue }) => queue))];
  const hints = queues.map((queue) => ({ shard: MESSAGE_SHARD, queue, rank: 0 }));
  if (hints.length > 0) await sendWakeHint(db, hints).catch(() => undefined);
}

const ROUTE = statement<{ id: string }>(
  'find_alert_route',
  'select id from longshore.alert_route where tenant = $1 and name = $2',
);

const TEST: AlertMessage = {
  kind: 'test',
  items: [],
  counts: { fired: 0, resolved: 0, over: 0 },
};

/** Sent once, also by a disabled route. Null when there is no such route. */
export async function makeTestMessage(
  db: Db,
  by: Actor,
  tenant: string,
  name: string,
): Promise<string | null> {
  const made = await withPartitions(db, async () =>
    db.transaction(async (tx) => {
      const [route] = await tx.run(ROUTE, [tenant, name]);
      if (!route) return [];
      const [message] = await makeMessages(tx, [{ tenant, routeId: route.id, message: TEST }]);
      if (!message) throw new Error('the message was not stored');
      const after = { messageId: message.id };
      await audit(tx, by, { tenant, action: 'alert-route.test', subject: name, after });
      return [message];
    }),
  );
  await wakeSenders(db, made);
  return made[0]?.id ?? null;
}

interface MessageRow {
  id: string;
  event: MessageKind;
  params: AlertMessage;
  request: unknown;
  sends: unknown;
  result: unknown;
  state: JobState;
  created_at: Date;
  run_at: Date | null;
  finished_at: Date | null;
}

const LIST = statement<MessageRow>('list_alert_messages', sentJobs('alert_route', 'name'));

/** Newest first. */
export async function listMessages(
  db: Queryable,
  tenant: string,
  route: string,
  { afterId, limit }: { afterId: string | null; limit: number },
): Promise<{ messages: AlertMessageView[]; nextId: string | null }> {
  const rows = await db.run(LIST, [MESSAGE_SHARD, tenant, route, afterId, limit + 1]);
  const messages = rows.slice(0, limit).map((row) => {
    const params = db.vault.show(tenant, row.params) as AlertMessage;
    const sends = db.vault.show(tenant, row.sends);
    return viewOf(route, { ...row, params, sends });
  });
  return { messages, nextId: rows.length > limit ? (messages.at(-1)?.id ?? null) : null };
}

function viewOf(route: string, { params, sends, state, ...row }: MessageRow): AlertMessageView {
  return {
    id: row.id,
    route,
    kind: row.event,
    ...messageText(params, null),
    status: STATUS_OF[state] ?? 'pending',
    attempts: Array.isArray(sends) ? (sends as Send[]) : [],
    createdAt: row.created_at.toISOString(),
    nextAttemptAt: row.run_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}

/** Where a message goes. */
export type Destination = { channel: 'email'; to: string[] } | { channel: Chat; url: string };

const DESTINATION = statement<{
  tenant: string;
  channel: 'email' | Chat;
  recipients: string[];
  url: string | null;
}>(
  'find_alert_destination',
  `select r.tenant, r.channel, r.recipients, r.url from longshore.alert_route r
   where r.id = (select parent_id from longshore.job where shard = $1 and id = $2 limit 1)
     and r.tenant = (select tenant from longshore.queue where shard = $1 and queue = (
       select queue from longshore.job where shard = $1 and id = $2 limit 1))`,
);

/** The route of a message, which must belong to the tenant of the message. Null: it was deleted. */
export async function findDestination(
  db: Queryable,
  messageId: string,
): Promise<Destination | null> {
  const [row] = await db.run(DESTINATION, [shardOfJobId(messageId), messageId]);
  if (!row) return null;
  const { tenant, channel, recipients, url } = row;
  if (channel === 'email') return { channel, to: recipients };
  return { channel, url: db.vault.openText(tenant, url ?? '') };
}
