import type { JobView } from '../../core/job/job.ts';
import { ANY_JOB, type JobCriteria } from '../../core/job/job-criteria.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import type { Db } from '../connection/db.ts';
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
  const { ids, reachedId } = mergeFound(found, filter.newestFirst, filter.limit);
  const { tenant, statuses = [], unhandledAfterMs } = filter;
  const { views, lastId } = await viewPage(db, tenant, ids, unhandledAfterMs);
  // A job may have moved on since it was found; it is shown as it is now, if it still fits.
  const fits = ({ status }: JobView) => statuses.length === 0 || statuses.includes(status);
  return { jobs: views.filter(fits), nextId: lastId ?? reachedId };
}

/** A page with more than this in params and results ends early, whatever its limit is. */
export const PAGE_BYTES_MAX = 2 * 1024 * 1024;
/** So many jobs are read before their sizes are looked at. */
const VIEWED_AT_ONCE = 25;

/**
 * The jobs of a page, in the order of the ids. When they are large the page ends early, and `lastId` is
 * where: a server has to hold, search and send what is on it.
 */
export async function viewPage(
  db: Db,
  tenant: string,
  ids: readonly string[],
  unhandledAfterMs?: number,
): Promise<{ views: JobView[]; lastId: string | null }> {
  const views: JobView[] = [];
  let bytes = 0;
  for (let from = 0; from < ids.length; from += VIEWED_AT_ONCE) {
    const some = ids.slice(from, from + VIEWED_AT_ONCE);
    const seen = new Map(
      (await viewAll(db, tenant, some, unhandledAfterMs)).map((view) => [view.jobId, view]),
    );
    for (const [index, id] of some.entries()) {
      const view = seen.get(id);
      if (!view) continue;
      views.push(view);
      bytes += JSON.stringify([view.params, view.result]).length;
      const isLast = from + index === ids.length - 1;
      if (bytes > PAGE_BYTES_MAX && !isLast) return { views, lastId: id };
    }
  }
  return { views, lastId: null };
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
