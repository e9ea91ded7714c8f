import { DatabaseError } from 'pg';
import { type Queryable, statement } from './db.ts';

const ENSURE_PARTITIONS = statement<{ made: number }>(
  'ensure_partitions',
  'select longshore.ensure_partitions($1) as made',
);

const DAYS_AHEAD = 7;

/** Partitions are created a week ahead, at every start and each hour by the scheduler. */
export async function ensurePartitions(db: Queryable): Promise<number> {
  const rows = await db.run(ENSURE_PARTITIONS, [DAYS_AHEAD]);
  return rows[0]?.made ?? 0;
}

/** After a sleep of weeks there may be no partition for today: create it, then try once more. */
export async function withPartitions<T>(db: Queryable, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isMissingPartition(error)) throw error;
    await ensurePartitions(db);
    return await work();
  }
}

/** A violated CHECK has the same code but names its constraint. The message may be translated. */
function isMissingPartition(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23514' && !error.constraint;
}
