import type { JobView } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import type { Db } from '../connection/db.ts';
import { viewJobs } from './get-job.ts';

/** A page with more bytes of params and results ends early. */
export const PAGE_BYTES_MAX = 2 * 1024 * 1024;
/** Jobs read before their sizes are added up. */
const VIEWED_AT_ONCE = 25;

/**
 * The jobs of a page, in the order of the ids. A page of large jobs ends early, at `lastId`,
 * because the server holds it in memory.
 */
export async function viewPage(
  db: Db,
  tenant: string,
  ids: readonly string[],
  unservedAfterMs?: number,
): Promise<{ views: JobView[]; lastId: string | null }> {
  const views: JobView[] = [];
  let bytes = 0;
  for (let from = 0; from < ids.length; from += VIEWED_AT_ONCE) {
    const some = ids.slice(from, from + VIEWED_AT_ONCE);
    const seen = new Map(
      (await viewAll(db, tenant, some, unservedAfterMs)).map((view) => [view.jobId, view]),
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

/** Jobs of any shards, in the order of the ids, without deleted ones. */
export async function viewAll(
  db: Db,
  tenant: string,
  ids: readonly string[],
  unservedAfterMs?: number,
): Promise<JobView[]> {
  const views = new Map<string, JobView>();
  for (const [shard, own] of Map.groupBy(ids, shardOfJobId)) {
    for (const view of await viewJobs(db, shard, tenant, own, unservedAfterMs)) {
      views.set(view.jobId, view);
    }
  }
  return ids.flatMap((id) => views.get(id) ?? []);
}
