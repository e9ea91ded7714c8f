import type { BulkFilter } from '../../../../src/client/bulk.ts';
import { JOB_STATES, type JobState } from '../../../../src/core/job/job.ts';
import type { StateCounts, StatsView } from '../../../../src/core/views/stats.ts';
import { SINCE_MS, SINCE_WORDS, type Since } from '../../words/since.ts';
import { textOf } from '../../words/url-search.ts';

/** Search params of the list of jobs. Invalid values are dropped. */
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

export const TABS: readonly { title: string; status: readonly JobState[] }[] = [
  { title: 'All', status: [] },
  { title: 'Failed', status: ['failed'] },
  { title: 'Retrying', status: ['retrying'] },
  { title: 'Running', status: ['running', 'cancelling'] },
  { title: 'Queued', status: ['queued'] },
  { title: 'Scheduled', status: ['scheduled'] },
  { title: 'Suspended', status: ['suspended'] },
  { title: 'Held', status: ['created'] },
  { title: 'Succeeded', status: ['succeeded'] },
  { title: 'Cancelled', status: ['cancelled'] },
];

export function sameStates(a: readonly JobState[], b: readonly JobState[]): boolean {
  return a.length === b.length && a.every((state) => b.includes(state));
}

/** The same jobs as a bulk filter. */
export function bulkOf(search: JobsSearch, now: Date): BulkFilter {
  const { since, sort: _sort, cursor: _cursor, ...filter } = search;
  const createdAfter = since && new Date(now.getTime() - SINCE_MS[since]).toISOString();
  return { ...filter, createdAfter };
}

const FILTERS = ['status', 'definitionKey', 'tag', 'errorCode', 'q', 'since'] as const;

/** For an empty result: the same search without each one of its filters, if it has several. */
export function withoutOne(search: JobsSearch): { words: string; search: JobsSearch }[] {
  const { cursor: _cursor, ...kept } = search;
  const used = FILTERS.filter((name) => kept[name] !== undefined);
  if (used.length < 2) return [];
  return used.map((name) => {
    const { [name]: value, ...rest } = kept;
    const words = name === 'since' ? SINCE_WORDS[value as Since] : [value].flat().join(', ');
    return { words, search: rest };
  });
}

/** Number of jobs per state, of all jobs or of one definition; null if unknown. */
export function tabCounts(search: JobsSearch, stats: StatsView | null): StateCounts | null {
  const { definitionKey, status: _status, sort: _sort, cursor: _cursor, ...others } = search;
  if (stats === null || Object.keys(others).length > 0) return null;
  if (definitionKey === undefined) return stats.totals;
  return stats.definitions.find(({ key }) => key === definitionKey)?.states ?? null;
}
