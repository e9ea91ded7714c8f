import { inTransaction, type Queryable, statement } from '../connection/db.ts';
import { inLockOrder } from '../connection/lock-order.ts';
import { QUEUES_CHANGED, type LevelHint } from '../connection/wake.ts';
import {
  countersWithUsage,
  SETTLED,
  WITH_DELIVERIES,
  WITH_HOOKS,
} from '../counters/counter-moves.ts';
import { permit, RETURN_PERMITS, LEFT_RUNNING, TO_PERMIT } from '../limits/limiters.ts';
import { DELIVERIES_OF_SETTLED } from './delivery-jobs.ts';
import { MAKE_HOOKS } from './hook-jobs.ts';
import { lockForSignals, NONE_RESUMED, resumeJobs } from './resume.ts';
import {
  CLOCK,
  DELETE_RUNNING,
  INSERT_ATTEMPT,
  INSERT_DONE,
  INSERT_WAITING,
  OWNED,
  SETTLED_ROWS,
  type SettledRow,
  TELL_WATCHERS,
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
  /** Other jobs wait for its end (`store/edges/resolve-ended.ts`). */
  watched?: true;
}

const SETTLE = statement<SettledRow>(
  'settle',
  `with ${CLOCK}, ${SETTLEMENTS}, ${OWNED}, ${DELETE_RUNNING}, ${INSERT_DONE}, ${INSERT_WAITING},
  ${LEFT_RUNNING}, ${RETURN_PERMITS}, ${INSERT_ATTEMPT}, ${TELL_WATCHERS}, ${MAKE_HOOKS}, ${DELIVERIES_OF_SETTLED},
  ${countersWithUsage(SETTLED, WITH_HOOKS, WITH_DELIVERIES)}
  ${SETTLED_ROWS}
  union all
  select parent_id, queue, rank, true, null, null from hook
  union all
  select null, null, null, null, g.limiter, null from (${TO_PERMIT}) g`,
);

/** Writes the whole batch in one statement. The answer has only the jobs that their claims still owned. */
export async function settle(
  db: Queryable,
  shard: number,
  settlements: readonly Settlement[],
): Promise<Settled[]> {
  if (settlements.length === 0) return [];
  const settled = new Map<string, Settled>();
  const { rows, resumed } = await write(db, shard, inLockOrder(settlements));
  const limiters = [...rows.flatMap(({ limiter }) => limiter ?? []), ...resumed.limiters];
  for (const { id, queue, rank, claimable, limiter, watched } of rows) {
    if (limiter !== null) continue;
    const one: Settled = settled.get(id) ?? { id, levels: [] };
    if (claimable) one.levels.push({ shard, queue, rank });
    if (watched) one.watched = true;
    settled.set(id, one);
  }
  for (const { id, levels } of resumed.jobs) {
    const one = settled.get(id);
    // A job that returned permits has its level already.
    if (one?.levels.length === 0) one.levels.push(...levels);
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

/**
 * A job that waits for a signal may have got it while it ran: such a job is queued again in the same
 * transaction. The lock makes a signal come strictly before or after (`resume.ts`).
 */
async function write(db: Queryable, shard: number, settlements: readonly Settlement[]) {
  const values = [shard, settlementsJson(settlements)];
  const waits = settlements.filter(({ transition }) => transition.to === 'suspended');
  if (waits.length === 0) return { rows: await db.run(SETTLE, values), resumed: NONE_RESUMED };
  const ids = waits.map(({ id }) => id);
  return await inTransaction(db, async (tx) => {
    const rows = await tx.run(SETTLE, values);
    await lockForSignals(tx, shard, ids);
    return { rows, resumed: await resumeJobs(tx, shard, ids) };
  });
}
