import { SHARDS_MAX } from '../job/job-id.ts';
import { fnv1a } from '../values/hash.ts';

/**
 * A definition with a `spread` uses that many shards, from its home shard on. Processes learn of a
 * change at different times, so nothing that must be unique may depend on what a process believes
 * the spread to be:
 *
 * - A concurrency key or a unique key has one shard among all, whatever the spread is.
 * - An idempotency key has its row in the home shard; the row fixes the id of the job, and so its
 *   shard.
 * - A request id fixes the id of its job without any row. Its shard follows from the time in the
 *   request id and from the spread in force at that time, so a repeat of the request finds the same
 *   shard after any number of changes. That holds because a change is in force only for requests
 *   that no process can have accepted before it knew of the change (`SPREAD_DELAY_MS`).
 * - Any other job may be anywhere.
 */
export interface SpreadStep {
  spread: number;
  /** For requests made from then on, by the clock of the database. */
  fromMs: number;
}

export const SPREAD_MAX = SHARDS_MAX;
/** A request id may be ahead of the database by this much, where there are several shards. */
export const REQUEST_AHEAD_MS = 60_000;
/** More than `REQUEST_AHEAD_MS`. */
export const SPREAD_DELAY_MS = 61_000;
/** Steps are kept for longer than a request id is valid. */
export const SPREAD_STEPS_KEPT_MS = 2 * 86_400_000;

/** Jobs of so many milliseconds share a shard, so that batches stay large. */
const TURN_MS = 16;

/** The spread for a request made at this time. */
export function spreadAt(steps: readonly SpreadStep[], atMs: number): number {
  return steps.findLast(({ fromMs }) => fromMs <= atMs)?.spread ?? 1;
}

/** The spread for a job without a request id: a change is in force for it at once. */
export function newestSpread(steps: readonly SpreadStep[]): number {
  return steps.at(-1)?.spread ?? 1;
}

/** One of the shards of a definition. Jobs of one moment get the same one, and the moments take turns. */
export function spreadShard(home: number, spread: number, atMs: number, shards: number): number {
  const wide = Math.min(spread, shards);
  if (wide <= 1) return home;
  // The golden ratio, so that callers with a period of their own do not meet one shard only.
  const turn = Math.imul(Math.floor(atMs / TURN_MS), 0x9e3779b1) >>> 16;
  return (home + (turn % wide)) % shards;
}

/** The shard of all jobs with this concurrency key, or of the row of this unique key. */
export function keyShard(
  kind: 'concurrency' | 'unique',
  [tenant, definitionKey, key]: readonly [tenant: string, definitionKey: string, key: string],
  shards: number,
): number {
  if (shards === 1) return 0;
  return fnv1a(`${kind}\n${tenant}\n${definitionKey}\n${key}`) % shards;
}
