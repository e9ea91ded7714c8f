import type { FairShare } from './fair-share.ts';

/**
 * A level is the part of a queue with one priority: the jobs in it are claimed in order of their seq.
 * Workers keep the levels that have work in memory; this function says in which order a claim visits
 * them. Priority first. Among equals, tenants take shares, and inside a tenant its queues take turns
 * (`core/queue/fair-share.ts`).
 *
 * Where jobs *age*, a level that got nothing for long enough goes before all others, so that what is
 * urgent cannot keep back the rest for ever.
 */
export interface Level {
  queue: number;
  tenant: string;
  /** Minus the priority, so that ascending order is "most urgent first". */
  rank: number;
  /** Since when it has had work and got nothing. */
  sinceMs: number;
}

/** Levels that got nothing since `agedMs` or longer are aged. */
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

/** No second level of a tenant comes before the first of another. */
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
