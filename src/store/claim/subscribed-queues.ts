import { type Db, type Queryable, statement } from '../connection/db.ts';
import { lockLanes } from '../limits/install-limits.ts';
import { tellWorkers } from '../limits/sync-limits.ts';

/**
 * Most moves of jobs interest nobody, and they should not pay for those that do. So each lane knows
 * which moves are told (`lane.told`), and the quick statements leave out what is: a claim does not see
 * a lane whose starts are told (`store/claim/claim.ts`), and a turn does not settle where successes are
 * (`store/claim/settle-and-claim.ts`). Such jobs go the longer way by `store/claim/limited-claim.ts` and `store/claim/settle.ts`, whose
 * statements make the deliveries. Workers know from their looks which way to take; what counts is what
 * the statement itself sees.
 *
 * That makes it safe beside a webhook that is only just being made. Webhook and lanes are written in
 * one transaction, so a statement sees both or neither: each move that begins after the commit, hence
 * after the 201, is told. A lane that is made meanwhile waits for the lock, and reads the webhooks
 * afterwards. A lane that is marked without need costs time and tells nothing.
 */

const MARK_LANES = statement<{ lane: number }>(
  'mark_told_lanes',
  `update longshore.lane l set told = longshore.told_states(l.tenant, l.key)
   where l.shard = $1 and l.tenant = $2
     and l.told is distinct from longshore.told_states(l.tenant, l.key)
   returning l.lane`,
);

/** Changes a webhook of a tenant, and its lanes with it. */
export async function changeListeners<T>(
  db: Db,
  tenant: string,
  change: (tx: Queryable) => Promise<T>,
): Promise<T> {
  let marked = 0;
  const answer = await db.transaction(async (tx) => {
    await lockLanes(tx);
    const changed = await change(tx);
    for (let shard = 0; shard < db.shards; shard += 1) {
      marked += (await tx.run(MARK_LANES, [shard, tenant])).length;
    }
    return changed;
  });
  if (marked > 0) await tellWorkers(db);
  return answer;
}

/** Whether such a move is told, by the column of the lane. */
export const isTold = (told: string, state: 'running' | 'succeeded') =>
  `coalesce('${state}' = any (${told}), false)`;
