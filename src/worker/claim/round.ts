import type { ClaimedJob } from '../../store/claim/claim.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
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

const NOTHING = { plain: NO_LEVELS, limited: NO_LEVELS, part: 0 };

/**
 * Writes a batch of outcomes and claims at most `limit` jobs. Plain successes and a plain claim share
 * one short statement. All else has statements of its own, beside it: outcomes of limited jobs, the few
 * other outcomes, and a claim of limited jobs, which gets its fair part of the limit.
 *
 * Limited jobs that ended make room for others of their limit. These are claimed right after their
 * permits are returned, so that a limited queue does not wait for its turn each time.
 *
 * What a part has claimed starts at once, even if another part fails: the outcomes of that one are put
 * back, and the round throws its error. Returns how many jobs were claimed.
 */
export async function runRound(round: DirectRound): Promise<number> {
  const { levels, batch, limit } = round;
  const plain: Finished[] = [];
  const returned: Finished[] = [];
  const others: Finished[] = [];
  for (const one of batch) {
    const { job } = one.execution;
    if (isPlainSettlement(one) && !levels.notifiesSuccess(job.queue)) plain.push(one);
    else (job.limited ? returned : others).push(one);
  }
  const kept = Math.min(limit, returned.length);
  const next = limit > kept ? levels.next() : NOTHING;
  const turn = limitOfTurn(next, limit, kept);
  const claimed = claim(round, next.limited, turn);
  const parts = await Promise.allSettled([
    claimed,
    settleOthers(round, others),
    settleAndRefill(round, returned, kept, claimed),
    settlePlainAndClaim(round, plain, next.plain, limit - kept - turn),
  ]);
  const failed = parts.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return parts.reduce((sum, part) => sum + (part.status === 'fulfilled' ? part.value : 0), 0);
}

/** What a claim of limited jobs gets of the round, at least one job where it is first. */
function limitOfTurn({ plain, limited, part }: typeof NOTHING, limit: number, kept: number) {
  if (limited.levels.length === 0) return 0;
  if (plain.levels.length === 0) return limit - kept;
  return Math.min(limit - kept, Math.max(1, Math.floor(part * limit) - kept));
}

async function settleOthers({ outbox, levels }: DirectRound, others: readonly Finished[]) {
  await outbox.write(levels.shard, others);
  return 0;
}

/** Returns permits, and claims at most `limit` jobs that can use them. */
async function settleAndRefill(
  round: DirectRound,
  returned: readonly Finished[],
  limit: number,
  claimed: Promise<number>,
): Promise<number> {
  if (returned.length === 0) return 0;
  const { outbox, levels, capacity } = round;
  await outbox.write(levels.shard, returned);
  const jobs = returned.map(({ execution }) => execution.job);
  for (const job of jobs) levels.permitsReturned(job);
  await claimed.catch(() => undefined);
  if (limit === 0) return 0;
  const { visit, most } = levels.refill(jobs, capacity);
  return await claim(round, visit, Math.min(limit, most));
}

/** Returns how many it claimed. */
async function claim(round: DirectRound, visit: Visit, limit: number): Promise<number> {
  const { levels, instance } = round;
  if (visit.levels.length === 0 || limit <= 0) return 0;
  return take(round, await levels.claim(visit, limit, instance));
}

function take({ levels, timings, accept }: DirectRound, jobs: readonly ClaimedJob[]): number {
  for (const { queue, waitedMs } of jobs) {
    if (waitedMs !== null) timings.add(queue, 'running', waitedMs);
  }
  accept(jobs.map((job) => levels.accepted(job)));
  return jobs.length;
}

async function settlePlainAndClaim(
  round: DirectRound,
  batch: readonly Finished[],
  visit: Visit,
  room: number,
): Promise<number> {
  if (batch.length === 0) return await claim(round, visit, room);
  const { outbox, outcomes, levels, timings, instance } = round;
  const limit = visit.levels.length === 0 ? 0 : room;
  let claimed = 0;
  try {
    const settlements = outcomes.settlements(batch);
    const { settled, jobs } = await levels.settleAndClaim(visit, limit, instance, settlements);
    claimed = take(round, jobs);
    for (const { execution, ended } of batch) {
      const { job, durationMs } = execution;
      if (settled?.has(job.id) ?? true) {
        timings.add(job.queue, 'succeeded', durationMs ?? 0, ended.usage);
      }
    }
    const results = settled && (await outcomes.results(levels.shard, batch, settled));
    outbox.conclude(levels.shard, batch, results);
  } catch (error) {
    // The result of both halves is unknown: write the outcomes again, whose fence shows it.
    if (error instanceof DatabaseUnavailable) {
      outbox.putBack(levels.shard, batch);
      throw error;
    }
    await outbox.write(levels.shard, batch);
  }
  return claimed;
}
