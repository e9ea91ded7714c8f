import type { Bulk, BulkFilter, BulkPreview, Longshore } from '../../../client/index.ts';
import { failedAgainFilter, type RetryEnds } from '../../../core/job/bulk-words.ts';

/** The jobs of a bulk action, if the preview showed them all. */
export function previewedJobs({ sample, matched, matchedIsExact }: BulkPreview): string[] | null {
  const isWhole = matchedIsExact && sample.length === matched;
  return isWhole ? sample.map(({ jobId }) => jobId) : null;
}

/**
 * How the jobs of a retry have ended so far. Counted by previews of a deletion, which delete
 * nothing. Null for other actions.
 */
export async function retryEnds(
  client: Longshore,
  bulk: Bulk,
  known: readonly string[] | null,
): Promise<RetryEnds | null> {
  if (bulk.action !== 'retry') return null;
  const count = async (filter: BulkFilter) => await client.bulk.preview('delete', filter);
  const named = bulk.filter['jobIds'];
  const jobIds = Array.isArray(named) ? (named as string[]) : known;
  if (jobIds) {
    const since = { jobIds, finishedAfter: bulk.createdAt };
    const failed = await count({ ...since, status: ['failed', 'cancelled'] });
    const { matched: succeeded } = await count({ ...since, status: 'succeeded' });
    return { succeeded, failed: failed.matched, failedIsExact: failed.matchedIsExact };
  }
  const filter = failedAgainFilter(bulk) as BulkFilter | null;
  if (filter === null) return null;
  const { matched: failed, matchedIsExact: failedIsExact } = await count(filter);
  return { succeeded: null, failed, failedIsExact };
}
