import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { BulkFilter, BulkPage, BulkPreview } from '../../../src/client/bulk.ts';
import type { BulkAction, BulkView } from '../../../src/core/job/bulk.ts';
import type { DeadLetterGroup, DeadLetterView } from '../../../src/core/failure/dead-letter.ts';
import { now } from '../runtime/clock.ts';
import {
  beginOfWindow,
  partsOfWindow,
  type TimePart,
  type WindowName,
} from '../words/alerts/window.ts';
import { call } from './call.ts';
import { unlessTold } from './connection.ts';

/**
 * What failed, by groups and one by one. Groups are counted by the server, up to a bound, each time
 * they are asked for, so they are asked for less often than jobs.
 */
const SOON_MS = 1_000;
const LATER_MS = 10_000;

/** Of a window that ends at the moment of asking, or of all times. */
export interface FailureFilter {
  window?: WindowName | undefined;
  definitionKey?: string | undefined;
  errorCode?: string | undefined;
  q?: string | undefined;
}

export interface GroupPage {
  groups: DeadLetterGroup[];
  complete: boolean;
  /** When the window that was asked for begins, and its parts, if these were asked for. */
  from: string | null;
  parts: TimePart[];
}

/** The clock of the server is known to a second; what fails meanwhile belongs to the window. */
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
    refetchInterval: () => unlessTold(LATER_MS),
  });

export interface DeadLetterPage {
  jobs: DeadLetterView[];
  nextCursor: string | null;
}

/** `from` and `to` are one part of the window, and take its place. */
export type DeadLettersAsked = FailureFilter & {
  fingerprint?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
};

export const deadLettersQuery = (asked: DeadLettersAsked) =>
  queryOptions({
    queryKey: ['dead-letters', asked],
    queryFn: ({ signal }) => {
      const { window, ...filter } = asked;
      const from = filter.from ?? (window && beginOfWindow(window, now()));
      return call<DeadLetterPage>('GET', '/v1/dead-letters', {
        query: { ...filter, from },
        signal,
      });
    },
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
