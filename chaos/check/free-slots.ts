import type { History, Micros } from '../history/history.ts';
import type { Faults } from './faults.ts';
import type { Instance } from './instances.ts';
import type { JobRecord } from './job-records.ts';

export interface Period {
  from: Micros;
  until: Micros;
}

/** For so long after a fault was healed a worker may still be catching up. */
const AFTERMATH: Micros = 5_000_000;

/**
 * When each worker could have taken one more job. A worker is *healthy* while it renews its lease in
 * time, its process is up, and no fault reaches it; it has a free slot while fewer jobs are its own,
 * by the database, than it has slots. What waits while every healthy worker is full waits for the load.
 */
export class FreeSlots {
  readonly healthy: readonly Period[];
  readonly free: readonly Period[];
  readonly #ofEach: Map<string, Period[]>;

  constructor(
    history: History,
    records: ReadonlyMap<string, JobRecord>,
    instances: ReadonlyMap<string, Instance>,
    faults: Faults,
  ) {
    const healthy = new Map(
      [...instances.values()].map((one) => [one.id, healthOf(history, one, faults)]),
    );
    const full = fullPeriods(records, history.run.slotsPerWorker ?? 0);
    this.#ofEach = new Map(
      [...healthy].map(([id, periods]) => [id, without(periods, full.get(id) ?? [])]),
    );
    this.healthy = union([...healthy.values()].flat());
    this.free = union([...this.#ofEach.values()].flat());
  }

  /** Who had a free slot all the time for at least so long in this period, and how long. */
  idleDuring(
    { from, until }: Period,
    atLeast: Micros,
    isMeant: (worker: string) => boolean,
  ): { worker: string; took: Micros } | null {
    for (const [worker, periods] of this.#ofEach) {
      if (!isMeant(worker)) continue;
      for (const period of periods) {
        const took = Math.min(until, period.until) - Math.max(from, period.from);
        if (took > atLeast) return { worker, took };
      }
    }
    return null;
  }
}

/** How much of this period is covered by the others, which do not overlap. */
export function covered({ from, until }: Period, periods: readonly Period[]): Micros {
  let sum = 0;
  for (const period of periods) {
    sum += Math.max(0, Math.min(until, period.until) - Math.max(from, period.from));
  }
  return sum;
}

function healthOf(
  { run, processes, phases }: History,
  { beats, pid, slot, registeredAt }: Instance,
  faults: Faults,
): Period[] {
  const upAt = processes.findLast((one) => one.pid === pid && one.phase === 'up')?.at ?? Infinity;
  const stopAt = phases.find(({ name }) => name === 'stop')?.at ?? Infinity;
  const longest = 2 * run.heartbeatMs * 1_000;
  const begin = Math.max(upAt, registeredAt);
  const periods = beats.flatMap(({ at }, index): Period[] => {
    const next = beats[index + 1]?.at;
    if (next === undefined || next - at > longest) return [];
    return [{ from: Math.max(begin, at), until: Math.min(stopAt, next) }];
  });
  const disturbed = faults
    .reaching(slot, -Infinity, Infinity, 0)
    .map(({ from, until }) => ({ from, until: until + AFTERMATH }));
  return without(union(periods), union(disturbed));
}

/** When each worker had no slot left. */
function fullPeriods(
  records: ReadonlyMap<string, JobRecord>,
  slots: number,
): Map<string, Period[]> {
  const steps = new Map<string, { at: Micros; by: 1 | -1 }[]>();
  for (const { claims } of records.values()) {
    for (const { worker, at, end } of claims) {
      const own = steps.get(worker) ?? [];
      if (own.length === 0) steps.set(worker, own);
      own.push({ at, by: 1 });
      if (end) own.push({ at: end.at, by: -1 });
    }
  }
  const full = new Map<string, Period[]>();
  for (const [worker, own] of steps) {
    const periods: Period[] = [];
    let count = 0;
    let since: Micros | null = slots <= 0 ? -Infinity : null;
    for (const { at, by } of own.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
      count += by;
      if (count >= slots) since ??= at;
      else if (since !== null) {
        periods.push({ from: since, until: at });
        since = null;
      }
    }
    if (since !== null) periods.push({ from: since, until: Infinity });
    full.set(worker, periods);
  }
  return full;
}

function union(periods: readonly Period[]): Period[] {
  const merged: Period[] = [];
  for (const { from, until } of periods.toSorted((a, b) => a.from - b.from)) {
    if (from >= until) continue;
    const last = merged.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else merged.push({ from, until });
  }
  return merged;
}

/** What is left of the first when the second are cut out; both in order and without overlaps. */
function without(periods: readonly Period[], cuts: readonly Period[]): Period[] {
  const left: Period[] = [];
  let first = 0;
  for (const { from, until } of periods) {
    let at = from;
    while ((cuts[first]?.until ?? Infinity) <= from) first += 1;
    for (let index = first; index < cuts.length; index += 1) {
      const cut = cuts[index];
      if (!cut || cut.from >= until) break;
      if (cut.from > at) left.push({ from: at, until: cut.from });
      at = Math.max(at, cut.until);
    }
    if (at < until) left.push({ from: at, until });
  }
  return left;
}
