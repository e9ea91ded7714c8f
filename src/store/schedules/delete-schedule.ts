import { type Actor, audit } from '../access/audit.ts';
import { type Db, statement } from '../connection/db.ts';
import { withSchedule } from './lock-schedule.ts';
import type { ScheduleRow } from './schedule-row.ts';

const DELETE = statement<{ id: string }>(
  'delete_schedule',
  `delete from longshore.schedule s where s.shard = $1 and s.id = $2 returning s.id`,
);

const DELETE_SLOTS = statement<{ schedule_id: string }>(
  'delete_slots',
  `delete from longshore.slot t where t.shard = $1 and t.schedule_id = $2 returning t.schedule_id`,
);

/** Deletes its slots too, but not its jobs. False when there is no such schedule. */
export async function deleteSchedule(
  db: Db,
  tenant: string,
  id: string,
  check: (row: ScheduleRow) => void = () => undefined,
  by: Actor | null = null,
): Promise<boolean> {
  const deleted = await withSchedule(db, tenant, id, async (tx, shard, row) => {
    check(row);
    await tx.run(DELETE, [shard, id]);
    await tx.run(DELETE_SLOTS, [shard, id]);
    const { name, definition_key: definitionKey, cron } = row;
    const before = { name, definitionKey, cron };
    if (by) await audit(tx, by, { tenant, action: 'schedule.delete', subject: id, before });
    return true;
  });
  return deleted ?? false;
}
