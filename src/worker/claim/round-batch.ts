import { FEW } from '../../store/claim/few.ts';
import type { Outbox } from '../attempt/outbox.ts';
import type { Finished } from '../attempt/outcome-writer.ts';
import type { ShardLoop } from './shard-loop.ts';

/** Which outcomes a round writes, and which may wait for a better one. */

/** So many successes are the round of a busy worker. */
const BUSY = 100;
/**
 * The general statement for a few failures costs as much as the short one for hundreds of successes. So a
 * busy worker collects such outcomes: this many of them, or for so long.
 */
const OTHERS_MAX = 25;
const OTHERS_MS = 50;

/** How long few plain successes may wait for the next claim (`hold.ts`). */
export function holdMs(
  { queue, rounds, hold }: ShardLoop,
  outbox: Outbox,
  nowMs: () => number,
): number {
  const plain = outbox.countPlain(queue.shard);
  const few = plain > 0 && plain <= FEW && outbox.others(queue.shard).length === 0;
  if (!few || !queue.refills || queue.hasWork || rounds.size > 0) return 0;
  return hold.leftMs(nowMs());
}

/** When outcomes that wait must be written at the latest. A round in flight looks at its end in any case. */
export function writeInMs({ queue, rounds, hold }: ShardLoop, outbox: Outbox, nowMs: () => number) {
  const waits = hold.holds && rounds.size === 0 && outbox.countPlain(queue.shard) > 0;
  return waits ? hold.leftMs(nowMs()) : Infinity;
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
