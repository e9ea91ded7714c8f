import type { JobState } from '../job/job.ts';

/** How far back `since` in the query of a view goes. */
const HOUR_MS = 3_600_000;
export const SINCE_MS = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS } as const;

export type Since = keyof typeof SINCE_MS;

export interface ViewFilter {
  status?: JobState[];
  definitionKey?: string;
  tag?: string;
  errorCode?: string;
  q?: string;
  createdAfter?: Date;
  sort?: 'createdAt';
}

/** The filter of jobs that the query of a saved view means at a time. */
export function viewFilter(parameters: Iterable<readonly [string, string]>, now: Date): ViewFilter {
  const filter: ViewFilter = {};
  for (const [name, value] of parameters) {
    if (name === 'status') filter.status = [...(filter.status ?? []), value as JobState];
    else if (name === 'sort') filter.sort = 'createdAt';
    else if (name === 'since' && Object.hasOwn(SINCE_MS, value)) {
      filter.createdAfter = new Date(now.getTime() - SINCE_MS[value as Since]);
    } else if (name === 'q' || name === 'tag') filter[name] = value;
    else if (name === 'definitionKey' || name === 'errorCode') filter[name] = value;
  }
  return filter;
}
