import type { Clock } from '../runtime/clock.ts';
import type { Roster } from './roster.ts';

/** The shards that a loop should look at in this round. */
export type ShardTurns = () => readonly number[];

export function allShards(shards: number): ShardTurns {
  const all = Array.from({ length: shards }, (_, shard) => shard);
  return () => all;
}

/**
 * One's own shards each time, and all of them once in a while: what an owner leaves lying that was
 * killed is picked up before its lease is over. Whoever comes first does it, the others find nothing.
 */
export function ownShards(
  roster: Roster,
  shards: number,
  clock: Clock,
  everyMs: number,
): ShardTurns {
  const all = allShards(shards)();
  let sinceMs = clock.monotonicMs();
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - sinceMs < everyMs) return all.filter((shard) => roster.owns(shard));
    sinceMs = nowMs;
    return all;
  };
}
