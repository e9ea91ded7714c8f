import { piece } from '../connection/backend.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { lockQueues } from '../limits/install-limits.ts';
import { notifyWorkers } from '../limits/sync-limits.ts';

/**
 * Most moves of jobs have no subscribed webhook and should not pay for those that have. So each queue knows
 * its subscribed moves (`queue.subscribed_states`), and the quick statements leave them out: a claim skips a queue whose
 * starts are subscribed (`store/claim/claim.ts`), and `settleAndClaim` settles no subscribed success. Such
 * jobs go through `store/claim/limited-claim.ts` and `store/claim/settle.ts`, which make the deliveries.
 * Workers know from their polls which way to take; the statement itself decides.
 *
 * Webhook and queues are written in one transaction, so a statement sees both or neither: each move that
 * begins after the commit, hence after the 201, is delivered. A queue that is made meanwhile waits for the
 * lock and reads the webhooks afterwards. A queue that is marked without need costs time only.
 */

/** What `longshore.subscribed_states` says, which Citus does not call for a queue. */
const STATES = piece(
  'longshore.subscribed_states(l.tenant, l.key)',
  `(select array_agg(distinct w.state)
    from longshore.webhook h join longshore.job_events() w on w.event = any (h.events)
    where h.tenant = l.tenant and h.status = 'active' and left(l.key, 1) <> '$'
      and (h.definition_keys is null or l.key = any (h.definition_keys)))`,
);

const MARK_QUEUES = statement<{ queue: number }>(
  'mark_subscribed_queues',
  `with subscribed as materialized (
     select l.queue, ${STATES} as states from longshore.queue l where l.shard = $1 and l.tenant = $2
   )
   update longshore.queue l set subscribed_states = s.states from subscribed s
   where l.shard = $1 and l.queue = s.queue and l.subscribed_states is distinct from s.states
   returning l.queue`,
);

/** Changes a webhook of a tenant, and its queues with it. */
export async function changeSubscriptions<T>(
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
  if (marked > 0) await notifyWorkers(db);
  return answer;
}

/** Whether a move to this state is subscribed, by the column of the queue. */
export const isSubscribed = (column: string, state: 'running' | 'succeeded') =>
  `coalesce('${state}' = any (${column}), false)`;
