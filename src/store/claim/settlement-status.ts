import type { OwnedState } from '../../core/job/job.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * Why a settlement changed nothing: the claim still owns the job, but its state has changed (decide again)
 * or the short statement must not settle it (it has permits, or a webhook subscribes); its outcome is already
 * written; or the claim is lost. An
 * outcome that says LEASE_EXPIRED was written by the reaper in its place. A failure that was written
 * is recognized by its attempt, because the job may be on its next claim by then.
 */
export type SettlementStatus =
  { kind: 'owned'; state: OwnedState } | { kind: 'settled' } | { kind: 'stale' };

const SETTLEMENT_STATUS = statement<{ owned: OwnedState | null; settled: boolean }>(
  'settlement_status',
  `select
    (select state from longshore.running where shard = $1 and id = $2 and claim_no = $3) as owned,
    (exists (select 1 from longshore.done where shard = $1 and id = $2 and claim_no = $3)
      or exists (select 1 from longshore.waiting where shard = $1 and id = $2 and claim_no = $3)
      or exists (
        select 1 from longshore.attempt where shard = $1 and job_id = $2 and claim_no = $3))
      and not exists (
        select 1 from longshore.attempt
        where shard = $1 and job_id = $2 and claim_no = $3 and error_code = 'LEASE_EXPIRED')
      as settled`,
);

export async function settlementStatusOf(
  db: Queryable,
  shard: number,
  id: string,
  claim: number,
): Promise<SettlementStatus> {
  const [row] = await db.run(SETTLEMENT_STATUS, [shard, id, claim]);
  if (row?.owned) return { kind: 'owned', state: row.owned };
  return { kind: row?.settled ? 'settled' : 'stale' };
}
