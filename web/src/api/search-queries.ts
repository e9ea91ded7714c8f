import { queryOptions } from '@tanstack/react-query';
import type { SearchValues } from '../../../src/core/search/complete.ts';
import type { SavedView } from '../../../src/core/search/saved-view.ts';
import { read, readList } from './call.ts';

/** Saved views, and the names that complete a search. */
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
