import type { ClaimedJob } from '../../store/claim/claim.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import type { Execution } from '../attempt/execution.ts';
import { type Finished, isPlainSettlement, type StoreOutcomes } from '../attempt/outcome-writer.ts';
import { type Levels, NO_LEVELS, type Visit } from './levels.ts';
import type { Timings } from './timings.ts';
import type { Round } from './work-queue.ts';

/** A round on PostgreSQL. */
interface DirectRound extends Round {
  levels: Levels;
  timings: Timings;
  outcomes: StoreOutcomes;
}

/**
 * Writes a batch of outcomes and claims at most `limit` jobs. Plain successes and a plain claim share
 * one short statement. The few other outcomes of the batch have a statement of their own, beside it.
 *
 * Limited jobs that ended make room for others of their limit. These are claimed right after their
 * permits are returned, so that a limited queue does not wait for a round of its own.
 *
 * What was claimed is returned even if another statement of the round fails: the outcomes of that one
 * are put back, and the next round shows the failure again.
 */
export async function runRound(round: DirectRound): Promise<Execution[]> {
  const { levels, batch, limit } = round;
  const isPlain = (one: Finished) =>
    isPlainSettlement(one) && !levels.notifiesSuccess(one.execution.job.queue);
  const plain = batch.filter(isPlain);
  const others = plain.length < batch.length ? batch.filter((one) => !isPlain(one)) : [];
  const returned = others.filter(({ execution }) => execution.job.limited).length;
  const kept = Math.min(limit, returned);
  const claimed: Execution[] = [];
  const parts = [
    settleOthers(round, others, kept, claimed),
    settlePlainAndClaim(round, plain, limit - kept, claimed),
  ];
  const failed = (await Promise.allSettled(parts)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected' && claimed.length === 0) throw failed.reason;
  return claimed;
}

/** Claims at most `limit` limited jobs, if a limited level is first. */
async function settleOthers(
  round: DirectRound,
  others: readonly Finished[],
  limit: number,
  claimed: Execution[],
): Promise<void> {
  const { outbox, levels } = round;
  await outbox.write(levels.shard, others);
  for (const { execution } of others) levels.permitsReturned(execution.job);
  const [first] = limit > 0 ? levels.next() : [];
  if (first?.limited) await claim(round, first, limit, claimed);
}

/** Adds the claimed jobs to `claimed`. */
async function settlePlainAndClaim(
  round: DirectRound,
  plain: readonly Finished[],
  limit: number,
  claimed: Execution[],
): Promise<void> {
  const { outbox, levels } = round;
  const [first, second] = limit > 0 ? levels.next() : [];
  if (!first?.limited) {
    return await settleAndClaim(round, plain, first ?? NO_LEVELS, limit, claimed);
  }
  let left = limit;
  try {
    left -= await claim(round, first, limit, claimed);
  } catch (error) {
    outbox.putBack(levels.shard, plain);
    throw error;
  }
  await settleAndClaim(round, plain, second ?? NO_LEVELS, left, claimed);
}

/** Returns how many it claimed. */
async function claim(
  round: DirectRound,
  visit: Visit,
  limit: number,
  claimed: Execution[],
): Promise<number> {
  const { levels, timings, instance, accept } = round;
  if (visit.levels.length === 0 || limit <= 0) return 0;
  const jobs = await levels.claim(visit, limit, instance);
  countWaits(timings, jobs);
  claimed.push(...accept(jobs.map((job) => levels.accepted(job))));
  return jobs.length;
}

async function settleAndClaim(
  round: DirectRound,
  batch: readonly Finished[],
  visit: Visit,
  room: number,
  claimed: Execution[],
): Promise<void> {
  if (batch.length === 0) return void (await claim(round, visit, room, claimed));
  const { outbox, outcomes, levels, timings, instance, accept } = round;
  const limit = visit.levels.length === 0 ? 0 : room;
  try {
    const settlements = outcomes.settlements(batch);
    const { settled, jobs } = await levels.settleAndClaim(visit, limit, instance, settlements);
    countWaits(timings, jobs);
    for (const { execution, ended } of batch) {
      const { job, durationMs } = execution;
      if (settled?.has(job.id) ?? true) {
        timings.add(job.queue, 'succeeded', durationMs ?? 0, ended.usage);
      }
    }
    claimed.push(...accept(jobs.map((job) => levels.accepted(job))));
    const results = settled && (await outcomes.results(levels.shard, batch, settled));
    outbox.conclude(levels.shard, batch, results);
  } catch (error) {
    // The result of both halves is unknown: write the outcomes again, whose fence shows it.
    outbox.putBack(levels.shard, batch);
    if (error instanceof DatabaseUnavailable) throw error;
    await outbox.write(levels.shard, outbox.take(levels.shard, batch.length));
  }
}

function countWaits(timings: Timings, jobs: readonly ClaimedJob[]): void {
  for (const { queue, waitedMs } of jobs) {
    if (waitedMs !== null) timings.add(queue, 'running', waitedMs);
  }
}
