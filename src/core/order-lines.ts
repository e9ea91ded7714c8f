/**
 * A line is the part of a lane with one priority: the jobs in it are claimed in order of their seq.
 * Workers keep the lines that have work in memory; this function says in which order a claim visits
 * them. Priority first. Among equals, tenants take turns, and inside a tenant its lanes take turns:
 * `rotation` grows by one with every claim and moves each turn on by one place.
 */
export interface Line {
  lane: number;
  tenant: string;
  /** Minus the priority, so that ascending order is "most urgent first". */
  rank: number;
}

export function orderLines<L extends Line>(lines: readonly L[], rotation: number): L[] {
  const byRank = group(lines, (line) => line.rank);
  return [...byRank.keys()]
    .sort((a, b) => a - b)
    .flatMap((rank) => takeTurns(byRank.get(rank) ?? [], rotation));
}

function takeTurns<L extends Line>(lines: readonly L[], rotation: number): L[] {
  const byTenant = group(lines, (line) => line.tenant);
  const tenants = [...byTenant.keys()].sort();
  // Inside a tenant the lanes move on once all tenants had their turn at the head.
  const round = Math.floor(rotation / Math.max(1, tenants.length));
  const queues = rotate(tenants, rotation).map((tenant) => {
    const lanes = [...(byTenant.get(tenant) ?? [])].sort((a, b) => a.lane - b.lane);
    return rotate(lanes, round);
  });
  return interleave(queues);
}

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

function rotate<T>(items: readonly T[], by: number): T[] {
  if (items.length === 0) return [];
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
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
