import { FEW } from '../../store/claim/few.ts';
import type { Outbox } from '../attempt/outbox.ts';
import type { Finished } from '../attempt/outcome-writer.ts';
import type { ShardLoop } from './shard-loop.ts';

/** When a round is worth it, which outcomes it writes, and which may wait for a better one. */

const ROUNDS_MAX = 3;
/** Besides these. A second one only where limited jobs come by hundreds. */
const LIMITED_ROUNDS_MAX = 2;
/** While one round is in progress, a second one starts only when it is worth its own commit. */
const WORTH_A_ROUND = 100;

/** So many successes are the round of a busy worker. */
const BUSY = 100;
/**
 * The general statement for a few failures costs as much as the short one for hundreds of successes. So a
 * busy worker collects such outcomes: this many of them, or for so long.
 */
const OTHERS_MAX = 25;
const OTHERS_MS = 50;

export function isWorthRound(
  loop: ShardLoop,
  outbox: Outbox,
  claimable: number,
  nowMs: () => number,
): boolean {
  const { queue, rounds } = loop;
  const limited = queue.refills ? outbox.countLimited(queue.shard) : 0;
  const outcomes = outbox.count(queue.shard) - limited;
  if (rounds.size === 0) {
    return claimable > 0 || (outcomes > 0 && !holdsBack(loop, outbox, nowMs()));
  }
  const worth = outcomes + (queue.expectsFew ? 0 : claimable);
  return rounds.size < ROUNDS_MAX && worth >= 2 * WORTH_A_ROUND;
}

/**
 * Limited jobs that ended make room for others of their limit. So their outcomes wait for no other round,
 * and no other round waits for them.
 */
export function isWorthLimited({ queue, limitedRounds }: ShardLoop, outbox: Outbox): boolean {
  const outcomes = queue.refills ? outbox.countLimited(queue.shard) : 0;
  if (limitedRounds.size === 0) return outcomes > 0;
  return limitedRounds.size < LIMITED_ROUNDS_MAX && outcomes >= WORTH_A_ROUND;
}

/** Whether few plain successes wait for the next claim (`hold.ts`), from now on if need be. */
function holdsBack({ queue, rounds, hold }: ShardLoop, outbox: Outbox, nowMs: number): boolean {
  const plain = outbox.countPlain(queue.shard);
  const few = plain > 0 && plain <= FEW && outbox.others(queue.shard).length === 0;
  if (!few || !queue.refills || queue.hasWork || rounds.size > 0) return false;
  hold.begin(nowMs);
  return hold.leftMs(nowMs) > 0;
}

/** When outcomes that wait must be written at the latest. A round in flight looks at its end in any case. */
export function writeInMs({ queue, rounds, hold }: ShardLoop, outbox: Outbox, nowMs: () => number) {
  const isHeld = hold.holds && rounds.size === 0 && outbox.countPlain(queue.shard) > 0;
  return isHeld ? hold.leftMs(nowMs()) : Infinity;
}

/** Takes the outcomes for a round; those of limited jobs have rounds of their own where it refills. */
export function takeBatch(
  loop: ShardLoop,
  outbox: Outbox,
  most: number,
  nowMs: () => number,
): Finished[] {
  const { shard, refills } = loop.queue;
  if (!refills) return outbox.take(shard, most);
  if (!leavesOthers(loop, outbox, nowMs)) {
    loop.othersSinceMs = undefined;
    return outbox.takeUnlimited(shard, most);
  }
  loop.othersSinceMs ??= nowMs();
  return outbox.takePlain(shard, most);
}

/** Whether outcomes that are not plain wait for a later round. The end of this one begins it. */
function leavesOthers(
  { queue, rounds, othersSinceMs }: ShardLoop,
  outbox: Outbox,
  nowMs: () => number,
): boolean {
  const others = outbox.others(queue.shard);
  const isBusy = rounds.size > 0 || outbox.countPlain(queue.shard) >= BUSY;
  if (!isBusy || others.length === 0 || others.length >= OTHERS_MAX) return false;
  return nowMs() - (othersSinceMs ?? Infinity) < OTHERS_MS && !others.some(isUrgent);
}

/** What may not wait: a cancel, and what the database has refused once. */
function isUrgent({ execution, refused }: Finished): boolean {
  return refused === true || execution.state !== 'running';
}
