import type { FairShare } from './fair-share.ts';

/**
 * A level is the part of a queue with one priority; its jobs are claimed in order of seq. Workers
 * keep the levels that have work in memory. This function decides in which order a claim visits
 * them: by priority; among equals tenants share by weight, and the queues of a tenant rotate
 * (`core/queue/fair-share.ts`).
 *
 * With ageing, a level that was not served for long enough goes first, so urgent jobs cannot starve
 * the rest.
 */
export interface Level {
  queue: number;
  tenant: string;
  /** Minus the priority: ascending order is most urgent first. */
  rank: number;
  /** Since when it has work and was not served. */
  sinceMs: number;
}

/** Levels not served since `agedMs` are aged. */
export function orderLevels<L extends Level>(
  levels: readonly L[],
  shares: FairShare,
  agedMs = -Infinity,
): L[] {
  const aged = levels.filter(({ sinceMs }) => sinceMs <= agedMs);
  const byRank = group(
    levels.filter(({ sinceMs }) => sinceMs > agedMs),
    (level) => level.rank,
  );
  const ranks = [...byRank.keys()].sort((a, b) => a - b);
  return [
    ...aged.sort((a, b) => a.sinceMs - b.sinceMs || a.rank - b.rank || a.queue - b.queue),
    ...ranks.flatMap((rank) => inFairOrder(byRank.get(rank) ?? [], shares)),
  ];
}

/**
 * The levels that a round visits. Plain and limited levels are claimed by different statements. The
 * kind of the first level goes first. When it is limited, it may have room for few jobs, so plain
 * levels that are not less urgent get the rest. When it is plain, its jobs usually take the whole
 * round; the others are first in one of the next rounds, because shares rotate.
 */
export function claimVisits<L extends Level & { limited: boolean }>(ordered: readonly L[]): L[][] {
  const [first] = ordered;
  const kinds = first?.limited ? [true, false] : [false];
  return kinds.map((limited) => ofOneKind(ordered, limited)).filter(({ length }) => length > 0);
}

/** The levels of one kind, without those that come after a more urgent level of the other kind. */
function ofOneKind<L extends Level & { limited: boolean }>(
  ordered: readonly L[],
  limited: boolean,
): L[] {
  let otherRank = Infinity;
  return ordered.filter((level) => {
    if (level.limited === limited) return level.rank <= otherRank;
    otherRank = Math.min(otherRank, level.rank);
    return false;
  });
}

function inFairOrder<L extends Level>(levels: readonly L[], shares: FairShare): L[] {
  const byTenant = group(levels, (level) => level.tenant);
  const tenants = [...byTenant.keys()].sort(
    (a, b) => shares.ofTenant(a) - shares.ofTenant(b) || (a < b ? -1 : 1),
  );
  const queues = tenants.map((tenant) =>
    [...(byTenant.get(tenant) ?? [])].sort(
      (a, b) => shares.ofQueue(a.queue) - shares.ofQueue(b.queue) || a.queue - b.queue,
    ),
  );
  return interleave(queues);
}

/** The first level of each tenant comes before the second level of any. */
function interleave<T>(queues: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...queues.map((queue) => queue.length));
  const result: T[] = [];
  for (let index = 0; index < longest; index += 1) {
    for (const queue of queues) {
      const item = queue[index];
      if (item !== undefined) result.push(item);
    }
  }
  return result;
}

function group<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const members = groups.get(keyOf(item));
    if (members) members.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
