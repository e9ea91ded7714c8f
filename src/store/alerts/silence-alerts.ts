import type { AlertView } from '../../core/alert/alert.ts';
import { type Actor, audit } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { ALERT_COLUMNS, type AlertRow, viewOfAlert } from './alerts.ts';

/**
 * A silenced alert stays listed, and nothing is sent about it. With an end, the silence also holds for
 * an alert of the same rule and subject that fires before the end (`store/alerts/fire-alerts.ts`).
 */

const SILENCE = statement<AlertRow>(
  'silence_alert',
  `update longshore.alert set silenced_by = $3,
     silenced_until = clock_timestamp() + make_interval(secs => $4::float8)
   where tenant = $1 and id = $2 and resolved_at is null
   returning ${ALERT_COLUMNS}`,
);

/** What is not sent yet waits for the end of the silence. */
const POSTPONE = statement<{ alert_id: string }>(
  'postpone_alert_notices',
  `update longshore.alert_route_notice n set due_at = a.silenced_until
   from longshore.alert a
   where n.alert_id = $1 and n.due_at is not null and a.id = n.alert_id
   returning n.alert_id`,
);

/** `seconds` null: until it is resolved. Null when no such alert fires. */
export async function silenceAlert(
  db: Db,
  by: Actor,
  tenant: string,
  id: string,
  seconds: number | null,
): Promise<AlertView | null> {
  return await db.transaction(async (tx) => {
    const [row] = await tx.run(SILENCE, [tenant, id, by.name, seconds]);
    if (!row) return null;
    await tx.run(POSTPONE, [id]);
    const view = viewOfAlert(row);
    const after = { rule: view.rule, until: view.silenced?.until ?? null };
    await audit(tx, by, { tenant, action: 'alert.silence', subject: id, after });
    return view;
  });
}

const END = statement<AlertRow>(
  'end_alert_silence',
  `update longshore.alert set silenced_by = null, silenced_until = null
   where tenant = $1 and id = $2 and resolved_at is null
   returning ${ALERT_COLUMNS}`,
);

const CATCH_UP = statement<{ alert_id: string }>(
  'catch_up_alert_notices',
  `update longshore.alert_route_notice set due_at = clock_timestamp()
   where alert_id = $1 and notified_at is null returning alert_id`,
);

/** Ends the silence; what was not sent is sent now. Null when no such alert fires. */
export async function endSilence(
  db: Db,
  by: Actor,
  tenant: string,
  id: string,
): Promise<AlertView | null> {
  return await db.transaction(async (tx) => {
    const before = await isSilenced(tx, tenant, id);
    const [row] = await tx.run(END, [tenant, id]);
    if (!row) return null;
    const view = viewOfAlert(row);
    if (!before) return view;
    await tx.run(CATCH_UP, [id]);
    await audit(tx, by, { tenant, action: 'alert.unsilence', subject: id });
    return view;
  });
}

const SILENCED = statement<{ silenced: boolean }>(
  'lock_silenced_alert',
  `select silenced_by is not null as silenced from longshore.alert
   where tenant = $1 and id = $2 for update`,
);

async function isSilenced(tx: Queryable, tenant: string, id: string): Promise<boolean> {
  return (await tx.run(SILENCED, [tenant, id]))[0]?.silenced ?? false;
}
