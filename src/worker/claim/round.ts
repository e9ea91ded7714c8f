import type { ClaimedJob } from '../../store/claim/claim.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import type { Execution } from '../attempt/execution.ts';
import { type Finished, isPlainSettlement, type Outbox } from '../attempt/outbox.ts';
import type { Levels } from './levels.ts';

/** What one round writes and claims in one shard. */
export interface Round {
  outbox: Outbox;
  levels: Levels;
  instance: string;
  batch: Finished[];
  limit: number;
  /** Registers claimed jobs as running here. */
  accept(jobs: readonly ClaimedJob[]): Execution[];
}

/** Writes a batch of outcomes and claims at most `limit` jobs: in one statement where both are plain. */
export async function runRound(round: Round): Promise<Execution[]> {
  const { outbox, levels, instance, batch, limit, accept } = round;
  const plain = batch.every(
    (one) => isPlainSettlement(one) && !levels.notifiesSuccess(one.execution.job.queue),
  );
  if (batch.length === 0 || levels.limited || !plain) {
    await outbox.write(levels.shard, batch);
    for (const { execution } of batch) levels.tokensBack(execution.job);
    return limit > 0 ? accept(await levels.claim(limit, instance)) : [];
  }
  try {
    const settlements = outbox.settlements(batch);
    const { settled, jobs } = await levels.settleAndClaim(limit, instance, settlements);
    const executions = accept(jobs);
    await outbox.conclude(levels.shard, batch, settled);
    return executions;
  } catch (error) {
    // The result of both halves is unknown: write the outcomes again, whose fence shows it.
    outbox.putBack(levels.shard, batch);
    if (error instanceof DatabaseUnavailable) throw error;
    await outbox.write(levels.shard, outbox.take(levels.shard, batch.length));
    return [];
  }
}
