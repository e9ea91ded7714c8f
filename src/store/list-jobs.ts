import type { JobView } from '../core/job.ts';
import { ANY_JOB, type JobCriteria } from '../core/job-criteria.ts';
import { shardOfJobId } from '../core/job-id.ts';
import type { Db } from './db.ts';
import { findJobs } from './find-jobs.ts';
import { viewJobs } from './get-job.ts';
import { type Found, mergeFound } from './walk-jobs.ts';

/** What is not said does not matter. */
export interface JobFilter extends Partial<JobCriteria> {
  tenant: string;
  newestFirst: boolean;
  /** Where the page before ended. */
  afterId: string | null;
  limit: number;
  unhandledAfterMs?: number | undefined;
}

/**
 * One page, put together from all shards. When not everything could be looked at, it may be short,
 * or even empty, and still not be the last one: `nextId` says so.
 */
export async function listJobs(
  db: Db,
  filter: JobFilter,
): Promise<{ jobs: JobView[]; nextId: string | null }> {
  const found: Found[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    found.push(await findJobs(db, shard, { ...filter, criteria: { ...ANY_JOB, ...filter } }));
  }
  const page = mergeFound(found, filter.newestFirst, filter.limit);
  return { jobs: await viewPage(db, filter, page.ids), nextId: page.reachedId };
}

/** A job may have moved on since it was found; it is shown as it is now, if it still fits. */
async function viewPage(
  db: Db,
  { tenant, statuses = [], unhandledAfterMs }: JobFilter,
  ids: readonly string[],
): Promise<JobView[]> {
  const views = await viewAll(db, tenant, ids, unhandledAfterMs);
  return views.filter(({ status }) => statuses.length === 0 || statuses.includes(status));
}

/** Jobs of any shards, in the order of the ids; those that are gone are left out. */
export async function viewAll(
  db: Db,
  tenant: string,
  ids: readonly string[],
  unhandledAfterMs?: number,
): Promise<JobView[]> {
  const views = new Map<string, JobView>();
  for (const [shard, own] of Map.groupBy(ids, shardOfJobId)) {
    for (const view of await viewJobs(db, shard, tenant, own, unhandledAfterMs)) {
      views.set(view.jobId, view);
    }
  }
  return ids.flatMap((id) => views.get(id) ?? []);
}
