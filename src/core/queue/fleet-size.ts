import type { WorkerRange } from './worker-range.ts';

/** How long another number of workers must be wanted before it is made so. */
export interface FleetPatience {
  growMs: number;
  shrinkMs: number;
}

/**
 * The number of workers that is wanted now, and since when it has been above or below the present
 * one. `least` is the change that was wanted during all this time.
 */
export interface FleetState {
  size: number;
  trend: { up: boolean; sinceMs: number; least: number } | null;
}

export function wantedWorkers(
  wantedSlots: number,
  slotsPerWorker: number,
  { min, max }: WorkerRange,
): number {
  return Math.min(max, Math.max(min, Math.ceil(wantedSlots / slotsPerWorker)));
}

/**
 * The next state of the fleet. It changes its size only when more, or fewer, were wanted all the
 * time, and then only by as many as were always wanted: a short burst starts no process, and a
 * short calm drains none.
 */
export function nextFleet(
  { size, trend }: FleetState,
  wanted: number,
  nowMs: number,
  { growMs, shrinkMs }: FleetPatience,
): FleetState {
  if (wanted === size) return { size, trend: null };
  const up = wanted > size;
  if (trend?.up !== up) return { size, trend: { up, sinceMs: nowMs, least: wanted } };
  const least = up ? Math.min(trend.least, wanted) : Math.max(trend.least, wanted);
  const isOver = nowMs - trend.sinceMs >= (up ? growMs : shrinkMs);
  return isOver ? { size: least, trend: null } : { size, trend: { ...trend, least } };
}
