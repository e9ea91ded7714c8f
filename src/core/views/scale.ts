import { isSystemKey } from '../definition/hooks.ts';
import type { Limits } from '../queue/limits.ts';
import { type Load } from '../queue/wanted-slots.ts';
import { type Cell, type LimitedJobs, slotsUnderLimits } from './limited-slots.ts';

/** The answer of `GET /v1/scale`: how many slots the load needs. Read from counters. */
export interface ScaleView extends ScaleNumbers {
  at: string;
  /** Whether jobs of all tenants count, or only your own. */
  allTenants: boolean;
  /** In which time the backlog should drain. */
  targetSeconds: number;
  /** The time over which the arrival rate is measured. */
  windowSeconds: number;
  definitions: DefinitionScale[];
  /** Waiting jobs that a concurrency limit holds back: more slots do not help them. */
  limited: LimitedJobs[];
}

interface ScaleNumbers {
  waiting: number;
  running: number;
  /** The wait of the oldest queued job; null when none is queued. */
  oldestAgeMs: number | null;
  arrivalsPerSecond: number;
  wantedSlots: number;
  /** The slots of active workers that have it loaded. Definitions share the slots of a worker. */
  slots: number;
}

export interface DefinitionScale extends ScaleNumbers {
  key: string;
  /** The mean time of an attempt; null when none has ended yet. */
  runMs: number | null;
}

/** The rows of the store, per shard and tenant and, where pauses differ, per part of a definition. */
export interface ScaleRows {
  at: Date;
  arrivalsFrom: Date;
  depths: readonly {
    key: string;
    tenant: string;
    paused: boolean;
    waiting: number;
    running: number;
  }[];
  recent: readonly {
    key: string;
    tenant: string;
    paused: boolean;
    arrivals: number;
    runs: number;
    ranMs: number;
  }[];
  ever: readonly { key: string; runs: number; ranMs: number }[];
  oldest: readonly { key: string; ageMs: number }[];
  slots: readonly { key: string; slots: number }[];
  allSlots: number;
  limits: ReadonlyMap<string, Limits>;
  /** The concurrency limits of tenants that have one. */
  tenantLimits: ReadonlyMap<string, number>;
}

/** Jobs under a pause wait, but they want no slot. */
export function scaleView(
  rows: ScaleRows,
  { targetSeconds, allTenants }: { targetSeconds: number; allTenants: boolean },
): ScaleView {
  const windowSeconds = Math.max(1, (rows.at.getTime() - rows.arrivalsFrom.getTime()) / 1_000);
  const targetMs = targetSeconds * 1_000;
  const parts = partsOf(rows).filter((part) => !isSystemKey(part.key) || hasLoad(part));
  const cells = parts.flatMap((part) => cellsOf(part, windowSeconds));
  const wanted = slotsUnderLimits(cells, rows, targetMs);
  const definitions = parts.map((part) =>
    definitionScale(part, wanted.slotsOf(part.key), windowSeconds),
  );
  return {
    at: rows.at.toISOString(),
    allTenants,
    targetSeconds,
    windowSeconds: Math.round(windowSeconds),
    waiting: sum(definitions, ({ waiting }) => waiting),
    running: sum(definitions, ({ running }) => running),
    oldestAgeMs: oldest(definitions.map(({ oldestAgeMs }) => oldestAgeMs)),
    arrivalsPerSecond: sum(definitions, ({ arrivalsPerSecond }) => arrivalsPerSecond),
    wantedSlots: wanted.slots,
    slots: rows.allSlots,
    definitions,
    limited: wanted.limited,
  };
}

/** The rows of one definition. */
interface Part {
  key: string;
  depths: ScaleRows['depths'];
  recent: ScaleRows['recent'];
  ever: ScaleRows['ever'];
  oldest: ScaleRows['oldest'];
  slots: ScaleRows['slots'];
}

function partsOf(rows: ScaleRows): Part[] {
  const byKey = <Row extends { key: string }>(all: readonly Row[]) => {
    const groups = Map.groupBy(all, ({ key }) => key);
    return (key: string): readonly Row[] => groups.get(key) ?? [];
  };
  const [depths, recent, ever] = [byKey(rows.depths), byKey(rows.recent), byKey(rows.ever)];
  const [oldestOf, slots] = [byKey(rows.oldest), byKey(rows.slots)];
  return [...new Set(rows.depths.map(({ key }) => key))].toSorted().map((key) => ({
    key,
    depths: depths(key),
    recent: recent(key),
    ever: ever(key),
    oldest: oldestOf(key),
    slots: slots(key),
  }));
}

/** Every definition has a queue for hooks, which most do not use. */
function hasLoad({ depths, recent }: Part): boolean {
  return jobs(depths, 'waiting') + jobs(depths, 'running') + arrivals(recent) > 0;
}

/** The load of each tenant. Run times are those of the definition. */
function cellsOf(part: Part, windowSeconds: number): Cell[] {
  const { key, depths, recent, ever } = part;
  const runMs = meanMs(recent) ?? meanMs(ever);
  const oldestAgeMs = oldest(part.oldest.map(({ ageMs }) => ageMs));
  return [...Map.groupBy(depths, ({ tenant }) => tenant)].map(([tenant, own]) => {
    const isClaimable = ({ paused }: { paused: boolean }) => !paused;
    const arrived = recent.filter((row) => row.tenant === tenant && isClaimable(row));
    const load: Omit<Load, 'concurrencyLimit' | 'rateLimit'> = {
      arrivalsPerSecond: arrivals(arrived) / windowSeconds,
      runMs,
      waiting: jobs(own.filter(isClaimable), 'waiting'),
      oldestAgeMs,
      running: jobs(own, 'running'),
    };
    return { key, tenant, ...load };
  });
}

function definitionScale(
  { key, depths, recent, ever, oldest: heads, slots }: Part,
  wantedSlots: number,
  windowSeconds: number,
): DefinitionScale {
  return {
    key,
    waiting: jobs(depths, 'waiting'),
    running: jobs(depths, 'running'),
    oldestAgeMs: oldest(heads.map(({ ageMs }) => ageMs)),
    arrivalsPerSecond: arrivals(recent) / windowSeconds,
    runMs: meanMs(recent) ?? meanMs(ever),
    wantedSlots,
    slots: sum(slots, (row) => row.slots),
  };
}

/** Counters lag a moment behind, so a sum can be below zero. */
function jobs(depths: ScaleRows['depths'], which: 'waiting' | 'running'): number {
  return Math.max(
    0,
    sum(depths, (row) => row[which]),
  );
}

function arrivals(rows: ScaleRows['recent']): number {
  return sum(rows, (row) => row.arrivals);
}

function meanMs(rows: readonly { runs: number; ranMs: number }[]): number | null {
  const runs = sum(rows, (row) => row.runs);
  return runs === 0 ? null : sum(rows, (row) => row.ranMs) / runs;
}

function oldest(agesMs: readonly (number | null)[]): number | null {
  const known = agesMs.filter((ageMs) => ageMs !== null);
  return known.length === 0 ? null : Math.max(0, ...known.map(Math.round));
}

function sum<Row>(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}
