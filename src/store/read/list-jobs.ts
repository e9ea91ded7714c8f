import type { JobView } from '../../core/job/job.ts';
import { ANY_JOB, type JobCriteria } from '../../core/job/job-criteria.ts';
import type { Db } from '../connection/db.ts';
import { findJobs } from './find-jobs.ts';
import { namedById } from './named-by-id.ts';
import { viewPage } from './view-page.ts';
import { type FoundIds, mergeFound } from './walk-jobs.ts';

/** A missing criterion matches all jobs. */
export interface JobFilter extends Partial<JobCriteria> {
  tenant: string;
  newestFirst: boolean;
  /** Last id of the previous page. */
  afterId: string | null;
  limit: number;
  unservedAfterMs?: number | undefined;
}

/**
 * One page from all shards. When the walk reached its bound, the page can be short or empty
 * without being the last one; then `nextId` is set.
 */
export async function listJobs(
  db: Db,
  filter: JobFilter,
): Promise<{ jobs: JobView[]; nextId: string | null }> {
  const found: FoundIds[] = [];
  const criteria = await namedById(db, filter.tenant, { ...ANY_JOB, ...filter });
  for (let shard = 0; shard < db.shards; shard += 1) {
    found.push(await findJobs(db, shard, { ...filter, criteria }));
  }
  const { ids, reachedId } = mergeFound(found, filter.newestFirst, filter.limit);
  const { tenant, statuses = [], unservedAfterMs } = filter;
  const { views, lastId } = await viewPage(db, tenant, ids, unservedAfterMs);
  // The job may have changed since it was found; it is shown as it is now, if it still matches.
  const fits = ({ status }: JobView) => statuses.length === 0 || statuses.includes(status);
  return { jobs: views.filter(fits), nextId: lastId ?? reachedId };
}
