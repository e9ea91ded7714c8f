import type { HeldJob } from '../queue/worker.ts';
import { duration, wholeSeconds } from '../values/duration.ts';
import type { DefinitionStats } from '../views/stats.ts';
import { msSince } from './problem.ts';

/** A run that takes this many times longer than usual, and longer than this, is a slowdown. */
const TIMES = 10;
const SLOW_MS = 5_000;

/**
 * `: runs take ≈ 27 s now, and took ≈ 27 ms before`, if the running jobs of a definition, or the
 * slowest of the window, run much longer than most; null if not. A definition that became slow
 * fills its slots, so its backlog looks as if there were too few of them.
 */
export function slowdownWords(
  { key, runMs: { p50, p95 } }: Pick<DefinitionStats, 'key' | 'runMs'>,
  running: readonly Pick<HeldJob, 'definitionKey' | 'startedAt'>[],
  now: Date,
): string | null {
  const usualMs = p50?.to ?? null;
  if (usualMs === null) return null;
  const ranMs = running
    .flatMap(({ definitionKey, startedAt }) =>
      definitionKey === key ? msSince(startedAt, now) : [],
    )
    .toSorted((a, b) => a - b);
  const middleMs = ranMs[Math.floor(ranMs.length / 2)] ?? 0;
  const nowMs = Math.max(middleMs, p95?.from ?? 0);
  if (nowMs < SLOW_MS || nowMs < TIMES * usualMs) return null;
  return `: runs take ≈ ${wholeSeconds(nowMs)} now, and took ≈ ${duration(usualMs)} before`;
}
