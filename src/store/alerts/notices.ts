import type { AlertView } from '../../core/alert/alert.ts';
import { type Notice, planMessages } from '../../core/alert/notices.ts';
import type { QuietHours } from '../../core/alert/quiet-hours.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { ALERT_COLUMNS, type AlertRow, viewOfAlert } from './alerts.ts';
import { makeMessages, type NewMessage, wakeSenders } from './messages.ts';

/**
 * What each route has still to say. Notices are written in the transaction that fires or resolves, and
 * marked in the one that makes the message. So an alert is part of exactly one message about its
 * firing and one about its end, even if a scheduler dies or two of them work at the same time: they
 * lock the route.
 */

const ADD = statement<{ alert_id: string }>(
  'add_alert_notices',
  `insert into longshore.alert_route_notice (route_id, alert_id, due_at)
   select r.id, a.id, greatest(a.fired_at + make_interval(secs => r.group_seconds), a.silenced_until)
   from longshore.alert a join longshore.alert_route r on r.tenant = a.tenant and r.enabled
     and (r.rules is null or a.rule = any (r.rules))
     and (r.owners is null or a.owner = any (r.owners))
     and (r.definition_keys is null or a.definition_key = any (r.definition_keys))
   where a.id = any ($1::uuid[])
   on conflict (route_id, alert_id) do nothing
   returning alert_id`,
);

/** For alerts that fire now. */
export async function addNotices(tx: Queryable, alerts: readonly AlertView[]): Promise<void> {
  if (alerts.length > 0) await tx.run(ADD, [alerts.map(({ id }) => id)]);
}

const SILENCED = `(a.silenced_by is not null
  and (a.silenced_until is null or a.silenced_until > clock_timestamp()))`;

/**
 * A notice that no message has sent stays due: its message says that the alert fired and was resolved.
 * Of a silenced alert nothing is sent any more.
 */
const RESOLVE = statement<{ alert_id: string }>(
  'resolve_alert_notices',
  `update longshore.alert_route_notice n set due_at = case when not ${SILENCED}
     then clock_timestamp() + make_interval(secs => r.group_seconds) end
   from longshore.alert_route r, longshore.alert a
   where n.alert_id = any ($1::uuid[]) and r.id = n.route_id and r.enabled and a.id = n.alert_id
     and (n.notified_at is not null or ${SILENCED})
   returning n.alert_id`,
);

/** For alerts that are resolved now: routes that sent the firing send the end, too. */
export async function resolveNotices(tx: Queryable, alerts: readonly AlertView[]): Promise<void> {
  if (alerts.length > 0) await tx.run(RESOLVE, [alerts.map(({ id }) => id)]);
}

const ROUTES_AT_ONCE = 100;
/** Far more than a tenant can have firing at once. */
const NOTICES_MAX = 2_000;

interface DueRoute {
  id: string;
  tenant: string;
  quiet_hours: QuietHours | null;
  now: Date;
}

const DUE = statement<DueRoute>(
  'lock_due_alert_routes',
  `select r.id, r.tenant, r.quiet_hours, clock_timestamp() as now from longshore.alert_route r
   where r.id = any (array(
     select n.route_id from longshore.alert_route_notice n
     where n.due_at <= (select clock_timestamp()) order by n.due_at limit ${NOTICES_MAX}))
   order by r.id limit $1 for update skip locked`,
);

/** The clock of the database: a JavaScript date has no microseconds, and a notice could seem not due. */
const PENDING = statement<AlertRow & { due: boolean; notified: boolean; held: boolean }>(
  'read_alert_notices',
  `select ${ALERT_COLUMNS}, n.due_at <= (select clock_timestamp()) as due, n.notified_at is not null as notified, n.held
   from longshore.alert_route_notice n join longshore.alert a on a.id = n.alert_id
   where n.route_id = $1 and n.due_at is not null and not ${SILENCED}
   order by n.due_at, a.id limit ${NOTICES_MAX}`,
);

const MARK = statement<{ alert_id: string }>(
  'mark_alert_notices',
  `update longshore.alert_route_notice set due_at = null, notified_at = coalesce(notified_at, $3), held = false
   where route_id = $1 and alert_id = any ($2::uuid[]) returning alert_id`,
);

const HOLD = statement<{ alert_id: string }>(
  'hold_alert_notices',
  `update longshore.alert_route_notice set held = true
   where route_id = $1 and alert_id = any ($2::uuid[]) returning alert_id`,
);

const ANY_DUE = statement<{ due: boolean }>(
  'any_alert_notice_due',
  `select exists (select 1 from longshore.alert_route_notice
     where due_at <= (select clock_timestamp())) as due`,
);

/** Makes the messages that are due, and returns how many. */
export async function sendNotices(db: Db): Promise<number> {
  if (!(await db.run(ANY_DUE))[0]?.due) return 0;
  const made = await withPartitions(db, async () =>
    db.transaction(async (tx) => {
      const messages: NewMessage[] = [];
      for (const route of await tx.run(DUE, [ROUTES_AT_ONCE])) {
        messages.push(...(await planRoute(tx, route)));
      }
      return await makeMessages(tx, messages);
    }),
  );
  await wakeSenders(db, made);
  return made.length;
}

async function planRoute(
  tx: Queryable,
  { id, tenant, quiet_hours: quietHours, now }: DueRoute,
): Promise<NewMessage[]> {
  const rows = await tx.run(PENDING, [id]);
  const notices = rows.map(({ due, notified, held, ...row }): Notice => {
    return { alert: viewOfAlert(row), due, notified, held };
  });
  const { messages, hold } = planMessages({ quietHours }, notices, now);
  if (hold.length > 0) await tx.run(HOLD, [id, idsOf(hold)]);
  const said = messages.flatMap((one) => one.notices);
  if (said.length > 0) await tx.run(MARK, [id, idsOf(said), now]);
  return messages.map(({ message }) => ({ tenant, routeId: id, message }));
}

function idsOf(notices: readonly Notice[]): string[] {
  return notices.map(({ alert }) => alert.id);
}
