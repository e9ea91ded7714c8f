import { isScheduleId, shardOfScheduleId } from '../../core/schedule/schedule-id.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { openRow, SCHEDULE_COLUMNS, type ScheduleRow } from './schedule-row.ts';

const LOCK = statement<ScheduleRow>(
  'lock_schedule',
  `select ${SCHEDULE_COLUMNS} from longshore.schedule s
   where s.shard = $1 and s.id = $2 and s.tenant = $3 for update`,
);

const READ = statement<ScheduleRow>(
  'read_schedule',
  `select ${SCHEDULE_COLUMNS} from longshore.schedule s
   where s.shard = $1 and s.id = $2 and s.tenant = $3`,
);

/** Without a lock. */
export async function readScheduleRow(
  db: Queryable,
  tenant: string,
  id: string,
): Promise<ScheduleRow | null> {
  if (!isScheduleId(id)) return null;
  const [row] = await db.run(READ, [shardOfScheduleId(id), id, tenant]);
  return row ? openRow(db.vault, row) : null;
}

/**
 * Changes a schedule under the lock of its row, so that no scheduler decides about its slots
 * meanwhile. Null when there is no such schedule.
 */
export async function withSchedule<T>(
  db: Db,
  tenant: string,
  id: string,
  work: (tx: Queryable, shard: number, row: ScheduleRow) => Promise<T>,
): Promise<T | null> {
  if (!isScheduleId(id)) return null;
  const shard = shardOfScheduleId(id);
  return await db.transaction(async (tx) => {
    const [row] = await tx.run(LOCK, [shard, id, tenant]);
    return row ? await work(tx, shard, openRow(tx.vault, row)) : null;
  });
}
