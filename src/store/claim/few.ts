import { arrayText, type Queryable, statement } from '../connection/db.ts';
import type { ClaimedJob, ClaimLevel } from './claim.ts';
import type { SettleAndClaim, SettleAndClaimRow } from './settle-and-claim.ts';
import type { Settlement } from './settlement.ts';

/**
 * The short form of `claim` and `settle_and_claim`: a function of small statements
 * (`longshore.settle_and_claim_few`). A plan for a batch has many nodes, and PostgreSQL sets up all of
 * them even for one job; a quiet queue, where each job comes alone, would pay for that twice per job. Each
 * job more costs a fixed amount here, so larger batches use the statements.
 */

/** The most jobs for which the function costs less. */
export const FEW = 3;

/** Whether a claim, or a claim with these settlements, is small enough. */
export function areFew(limit: number, levels: readonly ClaimLevel[], settlements = 0): boolean {
  return levels.length <= 1 && (limit <= FEW || levels.length === 0) && settlements <= FEW;
}

const CALL = `longshore.settle_and_claim_few(
     $1::smallint, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;

const CLAIM_FEW = statement<ClaimedJob>(
  'claim_few',
  `select id, queue, rank, seq, attempts, "maxAttempts", claim, interruptions, "paramsJson", policy,
     limited, traceparent, "waitedMs"
   from ${CALL}`,
  { ofShard: true },
);

const SETTLE_AND_CLAIM_FEW = statement<SettleAndClaimRow>(
  'settle_and_claim_few',
  `select settled, id, queue, rank, seq, attempts, "maxAttempts", claim, interruptions, "paramsJson",
     policy, limited, traceparent, "waitedMs"
   from ${CALL}`,
  { ofShard: true },
);

/** Claims at most `FEW` jobs of at most one level. */
export async function claimFew(
  db: Queryable,
  shard: number,
  limit: number,
  worker: string,
  levels: readonly ClaimLevel[],
): Promise<ClaimedJob[]> {
  const values = [...levelValues(limit, worker, levels), ...settlementValues([])];
  return await db.run(CLAIM_FEW, [shard, ...values]);
}

/** Settles at most `FEW` plain successes, and claims as `claimFew` does. */
export async function settleAndClaimFew(
  db: Queryable,
  shard: number,
  { settlements, limit, instance, levels }: SettleAndClaim,
): Promise<SettleAndClaimRow[]> {
  const values = [...levelValues(limit, instance, levels), ...settlementValues(settlements)];
  return await db.run(SETTLE_AND_CLAIM_FEW, [shard, ...values]);
}

function levelValues(limit: number, worker: string, [level]: readonly ClaimLevel[]): unknown[] {
  return level
    ? [limit, worker, level.queue, level.rank, level.floor, level.attempts]
    : [0, worker, null, null, null, null];
}

/** The settlements as columns, also for the statement of batches. */
export function settlementValues(settlements: readonly Settlement[]): string[] {
  return [
    arrayText(settlements.map(({ id }) => id)),
    arrayText(settlements.map(({ claim }) => claim)),
    `[${settlements.map(({ transition }) => transition.resultJson).join(',')}]`,
    arrayText(settlements.map(({ usage }) => usage.pid)),
    arrayText(settlements.map(({ usage }) => usage.peakRssBytes)),
    arrayText(settlements.map(({ usage }) => usage.cpuMs)),
  ];
}
