import type { Turns } from './fair-share.ts';

/**
 * A line is the part of a lane with one priority: the jobs in it are claimed in order of their seq.
 * Workers keep the lines that have work in memory; this function says in which order a claim visits
 * them. Priority first. Among equals, tenants take turns, and inside a tenant its lanes take turns
 * (`core/queue/fair-share.ts`).
 *
 * Where jobs *age*, a line that got nothing for long enough goes before all others, so that what is
 * urgent cannot keep back the rest for ever.
 */
export interface Line {
  lane: number;
  tenant: string;
  /** Minus the priority, so that ascending order is "most urgent first". */
  rank: number;
  /** Since when it has had work and got nothing. */
  sinceMs: number;
}

/** Lines that got nothing since `agedMs` or longer are aged. */
export function orderLines<L extends Line>(
  lines: readonly L[],
  turns: Turns,
  agedMs = -Infinity,
): L[] {
  const aged = lines.filter(({ sinceMs }) => sinceMs <= agedMs);
  const byRank = group(
    lines.filter(({ sinceMs }) => sinceMs > agedMs),
    (line) => line.rank,
  );
  const ranks = [...byRank.keys()].sort((a, b) => a - b);
  return [
    ...aged.sort((a, b) => a.sinceMs - b.sinceMs || a.rank - b.rank || a.lane - b.lane),
    ...ranks.flatMap((rank) => takeTurns(byRank.get(rank) ?? [], turns)),
  ];
}

function takeTurns<L extends Line>(lines: readonly L[], turns: Turns): L[] {
  const byTenant = group(lines, (line) => line.tenant);
  const tenants = [...byTenant.keys()].sort(
    (a, b) => turns.ofTenant(a) - turns.ofTenant(b) || (a < b ? -1 : 1),
  );
  const queues = tenants.map((tenant) =>
    [...(byTenant.get(tenant) ?? [])].sort(
      (a, b) => turns.ofLane(a.lane) - turns.ofLane(b.lane) || a.lane - b.lane,
    ),
  );
  return interleave(queues);
}

/** No second line of a tenant comes before the first of another. */
function interleave<T>(queues: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...queues.map((queue) => queue.length));
  const result: T[] = [];
  for (let place = 0; place < longest; place += 1) {
    for (const queue of queues) {
      const item = queue[place];
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
