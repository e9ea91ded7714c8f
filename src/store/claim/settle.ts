import { type Queryable, statement } from '../connection/db.ts';
import { inLockOrder } from '../connection/lock-order.ts';
import { QUEUES_CHANGED, type LevelHint } from '../connection/wake.ts';
import { MOVED, counters, WITH_DELIVERIES, WITH_HOOKS } from '../counters/counter-moves.ts';
import { permit, GIVE_BACK, LEFT_RUNNING, TO_PERMIT } from '../limits/limiters.ts';
import { TELL_SETTLED } from './delivery-jobs.ts';
import { MAKE_HOOKS } from './hook-jobs.ts';
import {
  CLOCK,
  DELETE_RUNNING,
  INSERT_ATTEMPT,
  INSERT_DONE,
  INSERT_WAITING,
  OWNED,
} from './settle-parts.ts';
import { type Settlement, SETTLEMENTS, settlementsJson } from './settlement.ts';

export type { Settlement } from './settlement.ts';

/**
 * Settling writes how a claim ended: the narrow row leaves `running` for `done` or back to `waiting`.
 *
 * The danger is a worker that lost its lease and does not know it. So the first step is the fence: it
 * finds and locks the row by id, claim number *and* state, and all later steps read only the rows it
 * found. A stale worker finds nothing, changes nothing, and misses its id in the answer. The state is
 * part of the fence because a cancel may arrive between the decision and this write; then the worker
 * decides again (`store/claim/settlement-status.ts`).
 *
 * Each row is found by its own probe of the primary key (LATERAL with LIMIT 1). A join of the batch with
 * the table is planned by estimates, which are worst when the queue is busiest (measured: 90 µs a row
 * instead of 15).
 *
 * The same commit makes the hooks of the job (`store/claim/hook-jobs.ts`) and its webhook deliveries
 * (`store/claim/delivery-jobs.ts`), and returns its permits to their limiters (`store/limits/limiters.ts`).
 * A job that goes straight back to its level keeps the permit of its key.
 */

export interface Settled {
  id: string;
  /** Levels that may have claimable jobs now: its own, those of its hooks, those blocked by its permits. */
  levels: LevelHint[];
}

const SETTLE = statement<{
  id: string;
  queue: number;
  rank: number;
  claimable: boolean;
  limiter: string | null;
}>(
  'settle',
  `with ${CLOCK}, ${SETTLEMENTS}, ${OWNED}, ${DELETE_RUNNING}, ${INSERT_DONE}, ${INSERT_WAITING},
  ${LEFT_RUNNING}, ${GIVE_BACK}, ${INSERT_ATTEMPT}, ${MAKE_HOOKS}, ${TELL_SETTLED},
  ${counters(MOVED, WITH_HOOKS, WITH_DELIVERIES)}
  select id, queue, rank, next = 'queued' or tokens is not null as claimable, null as limiter from owned
  union all
  select parent_id, queue, rank, true, null from hook
  union all
  select null, null, null, null, g.limiter from (${TO_PERMIT}) g`,
);

/** Writes the whole batch in one statement. The answer has only the jobs that their claims still owned. */
export async function settle(
  db: Queryable,
  shard: number,
  settlements: readonly Settlement[],
): Promise<Settled[]> {
  if (settlements.length === 0) return [];
  const settled = new Map<string, Settled>();
  const rows = await db.run(SETTLE, [shard, settlementsJson(inLockOrder(settlements))]);
  const limiters = rows.flatMap(({ limiter }) => limiter ?? []);
  for (const { id, queue, rank, claimable } of rows.filter(({ limiter }) => limiter === null)) {
    const one: Settled = settled.get(id) ?? { id, levels: [] };
    if (claimable) one.levels.push({ shard, queue, rank });
    settled.set(id, one);
  }
  // A job that is back at its old position may be behind the floors of workers: they read all levels again.
  for (const { id, transition } of settlements) {
    const back = transition.to === 'queued' && transition.attempted;
    if (back) settled.get(id)?.levels.push({ shard, queue: QUEUES_CHANGED, rank: 0 });
  }
  const all = [...settled.values()];
  all[0]?.levels.push(...(await permit(db, shard, limiters)).levels);
  return all;
}
