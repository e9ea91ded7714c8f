import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { BulkFilter, BulkPage, BulkPreview } from '../../../src/client/bulk.ts';
import type { BulkAction, BulkView } from '../../../src/core/bulk.ts';
import type { DeadLetterGroup, DeadLetterView } from '../../../src/core/dead-letter.ts';
import { call } from './call.ts';
import { unlessTold } from './connection.ts';

/**
 * What failed, by groups and one by one. Groups are counted by the server, up to a bound, each time
 * they are asked for, so they are asked for less often than jobs.
 */
const SOON_MS = 1_000;
const LATER_MS = 10_000;

export interface FailureFilter {
  definitionKey?: string | undefined;
  errorCode?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export interface GroupPage {
  groups: DeadLetterGroup[];
  complete: boolean;
}

export const groupsQuery = (asked: FailureFilter & { buckets?: number | undefined }) =>
  queryOptions({
    queryKey: ['groups', asked],
    queryFn: ({ signal }) =>
      call<GroupPage>('GET', '/v1/dead-letters/groups', { query: { ...asked }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: () => unlessTold(LATER_MS),
  });

export interface DeadLetterPage {
  jobs: DeadLetterView[];
  nextCursor: string | null;
}

export type DeadLettersAsked = FailureFilter & {
  fingerprint?: string | undefined;
  q?: string | undefined;
  cursor?: string | undefined;
};

export const deadLettersQuery = (asked: DeadLettersAsked) =>
  queryOptions({
    queryKey: ['dead-letters', asked],
    queryFn: ({ signal }) =>
      call<DeadLetterPage>('GET', '/v1/dead-letters', { query: { ...asked }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: () => unlessTold(LATER_MS),
  });

/** What is previewed is what somebody is about to confirm, so it is not asked again by itself. */
export const bulkPreviewQuery = (action: BulkAction, filter: BulkFilter) =>
  queryOptions({
    queryKey: ['bulk-preview', action, filter],
    queryFn: ({ signal }) =>
      call<BulkPreview>('POST', '/v1/bulk', { body: { action, filter, preview: true }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

export const bulkQuery = (bulkId: string) =>
  queryOptions({
    queryKey: ['bulk', bulkId],
    queryFn: ({ signal }) => call<BulkView>('GET', `/v1/bulk/${bulkId}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? SOON_MS : false),
  });

export const bulksQuery = (cursor?: string) =>
  queryOptions({
    queryKey: ['bulks', cursor],
    queryFn: ({ signal }) => call<BulkPage>('GET', '/v1/bulk', { query: { cursor }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.bulks.some(({ status }) => status === 'running') ? SOON_MS : unlessTold(LATER_MS),
  });
