import type { BulkFilter } from '../../../../src/client/bulk.ts';
import { JOB_STATES, type JobState } from '../../../../src/core/job.ts';
import { SINCE_MS, type Since } from '../../words/since.ts';
import { textOf } from '../../words/url-search.ts';

/** The view of the list of jobs, as its address says it. What an address says wrongly is left out. */
export interface JobsSearch {
  status?: JobState[];
  definitionKey?: string;
  tag?: string;
  errorCode?: string;
  q?: string;
  since?: Since;
  sort?: 'createdAt';
  cursor?: string;
}

export function jobsSearch(search: Record<string, unknown>): JobsSearch {
  const status = JOB_STATES.filter((state) => [search['status']].flat().includes(state));
  const definitionKey = textOf(search, 'definitionKey');
  const tag = textOf(search, 'tag');
  const errorCode = textOf(search, 'errorCode');
  const q = textOf(search, 'q');
  const cursor = textOf(search, 'cursor');
  const since = textOf(search, 'since');
  return {
    ...(status.length > 0 && { status }),
    ...(definitionKey !== undefined && { definitionKey }),
    ...(tag !== undefined && { tag }),
    ...(errorCode !== undefined && { errorCode }),
    ...(q !== undefined && { q }),
    ...(since !== undefined && Object.hasOwn(SINCE_MS, since) && { since: since as Since }),
    ...(search['sort'] === 'createdAt' && { sort: 'createdAt' as const }),
    ...(cursor !== undefined && { cursor }),
  };
}

/** States that people think of together are one tab. */
export const TABS: readonly { title: string; status: readonly JobState[] }[] = [
  { title: 'All', status: [] },
  { title: 'Failed', status: ['failed'] },
  { title: 'Retrying', status: ['retrying'] },
  { title: 'Running', status: ['running', 'cancelling'] },
  { title: 'Queued', status: ['queued'] },
  { title: 'Scheduled', status: ['scheduled'] },
  { title: 'Held', status: ['created'] },
  { title: 'Succeeded', status: ['succeeded'] },
  { title: 'Cancelled', status: ['cancelled'] },
];

export function sameStates(a: readonly JobState[], b: readonly JobState[]): boolean {
  return a.length === b.length && a.every((state) => b.includes(state));
}

/** The same jobs, as a bulk action names them: those of now, wherever the page is. */
export function bulkOf(search: JobsSearch, now: Date): BulkFilter {
  const { since, sort: _sort, cursor: _cursor, ...filter } = search;
  const createdAfter = since && new Date(now.getTime() - SINCE_MS[since]).toISOString();
  return { ...filter, createdAfter };
}
