import { inTransaction, type Queryable, statement } from '../connection/db.ts';
import { lockForSignals } from './resume.ts';

/**
 * Marks waits that timed out by a step, which the next attempt reads. So the clock of the database
 * decides, and for all later attempts. The lock makes a signal come strictly before, and then there is
 * no mark, or after, and then it is refused. If a process dies before it marks, the attempt finds
 * neither, waits again for no time, and the job comes back here.
 */
const MARK = statement<{ id: string }>(
  'mark_timeouts',
  `insert into longshore.step (shard, job_id, claim_no, name, at, value)
   select $1, u.id, 0, 'timeout:' || u.signal, clock_timestamp(), 'true'
   from unnest($2::uuid[], $3::text[]) as u(id, signal)
   where (select 1 from longshore.step s
     where s.shard = $1 and s.job_id = u.id and s.name = 'signal:' || u.signal limit 1) is null
   on conflict (shard, job_id, name) do nothing
   returning job_id as id`,
);

export async function markTimeouts(
  db: Queryable,
  shard: number,
  timeouts: readonly (readonly [id: string, signal: string])[],
): Promise<void> {
  if (timeouts.length === 0) return;
  const ids = timeouts.map(([id]) => id);
  await inTransaction(db, async (tx) => {
    await lockForSignals(tx, shard, ids.toSorted());
    await tx.run(MARK, [shard, ids, timeouts.map(([, signal]) => signal)]);
  });
}
