import type { Limits } from '../queue/limits.ts';
import { busySlots, freeSlots, type Load, wholeSlots } from '../queue/wanted-slots.ts';

/** The load of one tenant in one definition. */
export interface Cell extends Omit<Load, 'concurrencyLimit' | 'rateLimit'> {
  key: string;
  tenant: string;
}

/** Waiting jobs that a concurrency limit holds back. */
export interface LimitedJobs {
  of: 'tenant' | 'definition';
  name: string;
  concurrencyLimit: number;
  waiting: number;
}

export interface KnownLimits {
  limits: ReadonlyMap<string, Limits>;
  tenantLimits: ReadonlyMap<string, number>;
}

/**
 * How many slots the load keeps busy under the limits of tenants and definitions. A limit per
 * concurrency key does not count: the counters do not know keys.
 */
export function slotsUnderLimits(
  cells: readonly Cell[],
  { limits, tenantLimits }: KnownLimits,
  targetMs: number,
): { slots: number; slotsOf: (key: string) => number; limited: LimitedJobs[] } {
  const free = (cell: Cell) => freeSlots({ ...cell, ...NO_LIMITS }, targetMs);
  const shares = tenantShares(cells, tenantLimits, free);
  const byKey = Map.groupBy(cells, ({ key }) => key);
  const busy = new Map<string, number>();
  for (const [key, own] of byKey) {
    const { concurrencyLimit = null, rateLimit = null } = limits.get(key) ?? {};
    const load = {
      ...merged(own),
      concurrencyLimit,
      rateLimit,
    };
    const ofTenants = sum(own, (cell) =>
      Math.max(cell.running, free(cell) * (shares.get(cell.tenant) ?? 1)),
    );
    busy.set(key, Math.max(load.running, Math.min(ofTenants, busySlots(load, targetMs))));
  }
  return {
    slots: wholeSlots(
      sum([...busy.values()], (one) => one),
      cells.some(isWaiting),
    ),
    slotsOf: (key) => wholeSlots(busy.get(key) ?? 0, (byKey.get(key) ?? []).some(isWaiting)),
    limited: [
      ...limitedIn('tenant', cells, ({ tenant }) => tenant, tenantLimits, free),
      ...limitedIn('definition', cells, ({ key }) => key, limitsOf(limits), free),
    ],
  };
}

const NO_LIMITS = { concurrencyLimit: null, rateLimit: null } as const;

/** The part of its free load that a tenant may run. */
function tenantShares(
  cells: readonly Cell[],
  tenantLimits: KnownLimits['tenantLimits'],
  free: (cell: Cell) => number,
): Map<string, number> {
  return new Map(
    [...tenantLimits].map(([tenant, limit]) => {
      const wanted = sum(
        cells.filter((cell) => cell.tenant === tenant),
        free,
      );
      return [tenant, wanted > limit ? limit / wanted : 1];
    }),
  );
}

function limitedIn(
  of: LimitedJobs['of'],
  cells: readonly Cell[],
  nameOf: (cell: Cell) => string,
  limits: ReadonlyMap<string, number>,
  free: (cell: Cell) => number,
): LimitedJobs[] {
  return [...Map.groupBy(cells, nameOf)].flatMap(([name, own]) => {
    const concurrencyLimit = limits.get(name);
    const waiting = sum(own, (cell) => cell.waiting);
    if (concurrencyLimit === undefined || waiting === 0) return [];
    return sum(own, free) > concurrencyLimit ? [{ of, name, concurrencyLimit, waiting }] : [];
  });
}

function limitsOf(limits: KnownLimits['limits']): Map<string, number> {
  return new Map(
    [...limits].flatMap(([key, { concurrencyLimit }]) =>
      concurrencyLimit === null ? [] : [[key, concurrencyLimit]],
    ),
  );
}

/** All tenants of a definition together. */
function merged(cells: readonly Cell[]): Omit<Load, 'concurrencyLimit' | 'rateLimit'> {
  return {
    arrivalsPerSecond: sum(cells, (cell) => cell.arrivalsPerSecond),
    runMs: cells[0]?.runMs ?? null,
    waiting: sum(cells, (cell) => cell.waiting),
    oldestAgeMs: cells[0]?.oldestAgeMs ?? null,
    running: sum(cells, (cell) => cell.running),
  };
}

function isWaiting({ waiting }: Cell): boolean {
  return waiting > 0;
}

function sum<Row>(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}
