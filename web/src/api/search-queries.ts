import { queryOptions } from '@tanstack/react-query';
import type { SearchValues } from '../../../src/core/search/complete.ts';
import type { SavedView } from '../../../src/core/search/saved-view.ts';
import { call, read, readList } from './call.ts';
import { isRefused } from './problem-error.ts';

/** Saved views, the names that complete a search, and whose job it is. */
const FRESH_MS = 30_000;

export const NO_VALUES: SearchValues = { definitions: [], owners: [], codes: [], tags: [] };

export const searchValuesQuery = () =>
  queryOptions({
    queryKey: ['search-values'],
    queryFn: read<SearchValues>('/v1/search-values'),
    staleTime: FRESH_MS,
  });

export const viewsQuery = () =>
  queryOptions({
    queryKey: ['views'],
    queryFn: readList<SavedView>('views', '/v1/views'),
    staleTime: FRESH_MS,
  });

/**
 * The other tenant that a job belongs to, for an admin of the default tenant; null for a job of this
 * page's tenant, and for none.
 */
export const otherTenantQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['other-tenant', jobId],
    queryFn: async ({ signal }) => {
      try {
        await call('GET', `/v1/jobs/${encodeURIComponent(jobId)}`, { signal });
        return null;
      } catch (error) {
        if (isRefused(error) && error.status === 404) return error.tenant;
        throw error;
      }
    },
    staleTime: FRESH_MS,
  });
