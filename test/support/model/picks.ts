import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { makeJobId } from '../../../src/core/job/job-id.ts';
import type { Claimed, Model, ModelJob } from './model.ts';

/**
 * Steps are generated before anything exists, so they refer to their subject by a number that is
 * resolved when they run. Mostly it exists; sometimes it is gone, or never existed.
 */
const number = fc.nat({ max: 99 });

export type WorkerPick = { among: 'alive' | 'busy' | 'dead' | 'unknown'; n: number };

export const aWorker: fc.Arbitrary<WorkerPick> = fc.record({
  among: fc.oneof(
    { weight: 7, arbitrary: fc.constantFrom('alive', 'busy') },
    { weight: 3, arbitrary: fc.constantFrom('dead', 'dead', 'unknown') },
  ),
  n: number,
});

export function findWorker(model: Model, { among, n }: WorkerPick): string {
  const fitting = [...model.workers.values()].filter(({ instance, dead }) => {
    if (among === 'busy' && model.ownedBy(instance).length > 0) return true;
    return among !== 'busy' && dead === (among === 'dead');
  });
  const found = fitting[n % fitting.length];
  return among === 'unknown' || !found ? randomUUID() : found.instance;
}

export type JobPick = { among: 'fitting' | 'known' | 'unknown' | 'malformed'; n: number };

export const aJob: fc.Arbitrary<JobPick> = fc.record({
  among: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom('fitting', 'fitting', 'known') },
    { weight: 1, arbitrary: fc.constantFrom('unknown', 'malformed') },
  ),
  n: number,
});

/** The id that is meant, and the job if there is one; if it can be, one that fits. */
export function findJob(
  model: Model,
  { among, n }: JobPick,
  fits: (job: ModelJob) => boolean,
): { id: string; job: ModelJob | null } {
  if (among === 'malformed') return { id: 'nonsense', job: null };
  const known = [...model.jobs.values()];
  const fitting = known.filter(fits);
  const from = among === 'fitting' && fitting.length > 0 ? fitting : known;
  const job = among === 'unknown' ? undefined : from[n % from.length];
  return job ? { id: job.id, job } : { id: unknownId(n), job: null };
}

export type ClaimPick = { among: 'live' | 'overtaken' | 'any' | 'never' | 'unknown'; n: number };

export const aClaim: fc.Arbitrary<ClaimPick> = fc.record({
  among: fc.oneof(
    { weight: 7, arbitrary: fc.constant('live') },
    { weight: 5, arbitrary: fc.constantFrom('overtaken', 'overtaken', 'never', 'any') },
    { weight: 1, arbitrary: fc.constant('unknown') },
  ),
  n: number,
});

/**
 * A claim that holds, one whose job a newer one holds, any one, or a number that was never given.
 * The fence is for the wrong numbers, so these are tried on owned jobs.
 */
export function findClaim(model: Model, { among, n }: ClaimPick): Claimed {
  const owned = model.claims.filter((claimed) => model.isOwned(claimed));
  const overtaken = owned.filter((claimed) => !model.owns(claimed));
  const live = owned.filter((claimed) => model.owns(claimed));
  const fitting = { live, overtaken, never: live, any: model.claims, unknown: [] }[among];
  const from = fitting.length > 0 ? fitting : model.claims;
  const found = from[n % from.length];
  if (!found || among === 'unknown') {
    return { id: unknownId(n), claim: 1, attempts: 1, maxAttempts: 3, interruptions: 0 };
  }
  const newest = model.jobs.get(found.id)?.claim ?? found.claim;
  return among === 'never' ? { ...found, claim: newest + 1 } : found;
}

export function hasClaims(model: Readonly<Model>): boolean {
  return model.claims.length > 0;
}

/** A worker has one execution of a job at a time, so a batch never names a job twice. */
export function eachOnce<T extends { id: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}

export function byId<T extends { id: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function unknownId(n: number): string {
  return makeJobId({ timeMs: Date.now(), sequence: n, random: [1, n], shard: 0 });
}
