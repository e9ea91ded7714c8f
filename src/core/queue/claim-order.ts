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

/**
 * The levels that a round visits to use the permits again that came back with `returned` queues, best
 * first; none while another level is more urgent or has aged. `part` is their fair part of the slots: by
 * the weights of the tenants with work at this priority, and the same for each queue of a tenant.
 */
export function refillVisit<L extends Level>(
  levels: readonly L[],
  returned: (level: L) => boolean,
  shares: FairShare,
  weightOf: (level: L) => number,
  agedMs = -Infinity,
): { levels: L[]; part: number } {
  const others = levels.filter((level) => !returned(level));
  const urgent = Math.min(
    ...others.map(({ rank, sinceMs }) => (sinceMs <= agedMs ? -Infinity : rank)),
  );
  const own = levels.filter((level) => returned(level) && level.rank <= urgent);
  const [first] = orderLevels(own, shares);
  if (!first || first.rank < urgent) {
    return {
      levels: orderLevels(
        own.filter(({ rank }) => rank < urgent),
        shares,
      ),
      part: 1,
    };
  }
  const equals = others.filter(({ rank }) => rank === urgent);
  return { levels: orderLevels(own, shares), part: fairPart(own, equals, weightOf) };
}

/** The part of `own` of what all of them get, when tenants share by weight and their queues equally. */
export function fairPart<L extends Level>(
  own: readonly L[],
  others: readonly L[],
  weightOf: (level: L) => number,
): number {
  const queues = (of: readonly L[], tenant: string) =>
    new Set(of.filter((level) => level.tenant === tenant).map(({ queue }) => queue)).size;
  const all = [...own, ...others];
  const weights = new Map(all.map((level) => [level.tenant, weightOf(level)]));
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  return [...weights].reduce((part, [tenant, weight]) => {
    const theirs = queues(own, tenant);
    return theirs === 0 ? part : part + ((weight / sum) * theirs) / queues(all, tenant);
  }, 0);
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
