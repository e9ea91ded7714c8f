import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { createCell } from '../runtime/cell.ts';
import { call } from './call.ts';
import { pollMs } from './connection.ts';
import { gather } from './gather.ts';
import { isRunning, type JobPage, type JobsAsked, jobsAskedQuery } from './queries.ts';

/**
 * The list of jobs. A page without matches is searched further. A search that needed several
 * requests is repeated rarely, and not at each change of a job.
 */
const SOON_MS = 1_000;
const LATER_MS = 30_000;

/** How far the search in progress came; null when none is. */
export const searchProgress = createCell<string | null>(null);

export const jobSearchQuery = (asked: JobsAsked) =>
  queryOptions({
    queryKey: [
      asked.q === undefined && asked.tag === undefined ? 'jobs' : 'job-search',
      'all',
      asked,
    ],
    queryFn: async ({ signal }) => {
      const { cursor: start, ...query } = jobsAskedQuery(asked);
      try {
        return await gather(
          (cursor, limit) =>
            call<JobPage>('GET', '/v1/jobs', { query: { ...query, cursor, limit }, signal }),
          start,
          searchProgress.set,
        );
      } finally {
        searchProgress.set(null);
      }
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      if ((data?.requests ?? 1) > 1) return LATER_MS;
      return data?.jobs.some(isRunning) ? SOON_MS : pollMs(SOON_MS);
    },
  });
