import { type Db, type Queryable, statement } from '../connection/db.ts';
import { lockQueues } from '../limits/install-limits.ts';
import { tellWorkers } from '../limits/sync-limits.ts';

/**
 * Most moves of jobs interest nobody, and they should not pay for those that do. So each queue knows
 * which moves are told (`queue.told`), and the quick statements leave out what is: a claim does not see
 * a queue whose starts are told (`store/claim/claim.ts`), and a turn does not settle where successes are
 * (`store/claim/settle-and-claim.ts`). Such jobs go the longer way by `store/claim/limited-claim.ts` and `store/claim/settle.ts`, whose
 * statements make the deliveries. Workers know from their looks which way to take; what counts is what
 * the statement itself sees.
 *
 * That makes it safe beside a webhook that is only just being made. Webhook and queues are written in
 * one transaction, so a statement sees both or neither: each move that begins after the commit, hence
 * after the 201, is told. A queue that is made meanwhile waits for the lock, and reads the webhooks
 * afterwards. A queue that is marked without need costs time and tells nothing.
 */

const MARK_QUEUES = statement<{ queue: number }>(
  'mark_subscribed_queues',
  `update longshore.queue l set told = longshore.subscribed_states(l.tenant, l.key)
   where l.shard = $1 and l.tenant = $2
     and l.told is distinct from longshore.subscribed_states(l.tenant, l.key)
   returning l.queue`,
);

/** Changes a webhook of a tenant, and its queues with it. */
export async function changeListeners<T>(
  db: Db,
  tenant: string,
  change: (tx: Queryable) => Promise<T>,
): Promise<T> {
  let marked = 0;
  const answer = await db.transaction(async (tx) => {
    await lockQueues(tx);
    const changed = await change(tx);
    for (let shard = 0; shard < db.shards; shard += 1) {
      marked += (await tx.run(MARK_QUEUES, [shard, tenant])).length;
    }
    return changed;
  });
  if (marked > 0) await tellWorkers(db);
  return answer;
}

/** Whether such a move is told, by the column of the queue. */
export const isSubscribed = (told: string, state: 'running' | 'succeeded') =>
  `coalesce('${state}' = any (${told}), false)`;
