import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { BulkFilter, BulkPage, BulkPreview } from '../../../src/client/bulk.ts';
import type { BulkAction, BulkView } from '../../../src/core/job/bulk.ts';
import type { DeadLetterGroup, DeadLetterView } from '../../../src/core/failure/dead-letter.ts';
import type { Unsearched } from '../../../src/core/search/unsearched.ts';
import { now } from '../runtime/clock.ts';
import {
  beginOfWindow,
  partsOfWindow,
  type TimePart,
  type WindowName,
} from '../words/alerts/window.ts';
import { call, read } from './call.ts';
import { gather } from './gather.ts';
import { pollMs } from './connection.ts';

/**
 * Dead letters, as groups and as single jobs. The server counts groups on every request, so they
 * are polled less often than jobs.
 */
const SOON_MS = 1_000;
const LATER_MS = 10_000;

/** `window` ends now; without it, dead letters of all times. */
export interface FailureFilter {
  window?: WindowName | undefined;
  definitionKey?: string | undefined;
  errorCode?: string | undefined;
  q?: string | undefined;
}

export interface GroupPage {
  groups: DeadLetterGroup[];
  complete: boolean;
  /** Start of the requested window, and its parts if `inParts`. */
  from: string | null;
  parts: TimePart[];
}

/**
 * The server's clock is known to the second only; jobs that fail meanwhile belong to the window.
 */
const CLOCK_SLACK_MS = 2_000;

export const groupsQuery = (asked: FailureFilter & { inParts?: boolean }) =>
  queryOptions({
    queryKey: ['groups', asked],
    queryFn: async ({ signal }) => {
      const { window, inParts = false, ...filter } = asked;
      const end = new Date(now().getTime() + CLOCK_SLACK_MS);
      const parts = window && inParts ? partsOfWindow(window, end) : [];
      const from = parts[0]?.from ?? (window && beginOfWindow(window, now()));
      const divided = inParts && window ? { to: parts.at(-1)?.to, buckets: parts.length } : {};
      const query = { ...filter, from, ...divided };
      const page = await call<Pick<GroupPage, 'groups' | 'complete'>>(
        'GET',
        '/v1/dead-letters/groups',
        { query, signal },
      );
      return { ...page, from: from ?? null, parts };
    },
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

export interface DeadLetterPage {
  jobs: DeadLetterView[];
  nextCursor: string | null;
  searchedUntil: string | null;
  unsearched?: readonly Unsearched[];
}

/** `from` and `to` select one part of the window and override it. */
export type DeadLettersAsked = FailureFilter & {
  fingerprint?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
};

export const deadLettersQuery = (asked: DeadLettersAsked) =>
  queryOptions({
    queryKey: ['dead-letters', asked],
    queryFn: async ({ signal }) => {
      const { window, cursor: start, ...filter } = asked;
      const from = filter.from ?? (window && beginOfWindow(window, now()));
      const read = (cursor: string | undefined, limit: number) =>
        call<DeadLetterPage>('GET', '/v1/dead-letters', {
          query: { ...filter, from, cursor, limit },
          signal,
        });
      return await gather(read, start);
    },
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

/** Never refetched: the user confirms exactly the preview that is shown. */
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
    queryFn: read<BulkView>(`/v1/bulk/${bulkId}`),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? SOON_MS : false),
  });

export const bulksQuery = (cursor?: string) =>
  queryOptions({
    queryKey: ['bulks', cursor],
    queryFn: read<BulkPage>('/v1/bulk', { cursor }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.bulks.some(({ status }) => status === 'running') ? SOON_MS : pollMs(LATER_MS),
  });
