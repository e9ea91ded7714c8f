import type { JobView } from '../../core/job/job.ts';
import { ANY_JOB, type JobCriteria } from '../../core/job/job-criteria.ts';
import type { Db } from '../connection/db.ts';
import { findJobs } from './find-jobs.ts';
import { viewPage } from './view-page.ts';
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
