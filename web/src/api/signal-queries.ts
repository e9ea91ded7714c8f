import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { AlertRuleView, AlertView } from '../../../src/core/views/alert.ts';
import type { StatsView } from '../../../src/core/views/stats.ts';
import { call } from './call.ts';
import { unlessTold } from './connection.ts';
import { offersQuery } from './queries.ts';

/**
 * What the server measures of itself. An older server measures nothing: its document lacks these
 * calls, and what would be drawn of them is left out.
 */
const LATER_MS = 10_000;
const SERIES_MINUTES = 60;

export const statsQuery = () =>
  queryOptions({
    queryKey: ['stats'],
    queryFn: ({ signal }) =>
      call<StatsView>('GET', '/v1/stats', { query: { seriesMinutes: SERIES_MINUTES }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: () => unlessTold(LATER_MS),
  });

/** Null where nothing is measured, and until the first answer. */
export function useStats(): StatsView | null {
  return useQuery({ ...statsQuery(), enabled: useOffered('/v1/stats') }).data ?? null;
}

export function useOffered(path: string): boolean {
  const { data: offers = [] } = useQuery(offersQuery());
  return offers.includes(path);
}

export interface AlertPage {
  alerts: AlertView[];
  nextCursor: string | null;
}

export const alertsQuery = (cursor?: string) =>
  queryOptions({
    queryKey: ['alerts', cursor],
    queryFn: ({ signal }) => call<AlertPage>('GET', '/v1/alerts', { query: { cursor }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: () => unlessTold(LATER_MS),
  });

const FIRING_MAX = 100;

/** What fires now; the newest first. */
export const firingAlertsQuery = () =>
  queryOptions({
    queryKey: ['alerts', 'firing'],
    queryFn: ({ signal }) =>
      call<AlertPage>('GET', '/v1/alerts', {
        query: { status: 'firing', limit: FIRING_MAX },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: () => unlessTold(LATER_MS),
  });

export const alertRulesQuery = () =>
  queryOptions({
    queryKey: ['alert-rules'],
    queryFn: async ({ signal }) =>
      (await call<{ rules: AlertRuleView[] }>('GET', '/v1/alerts/rules', { signal })).rules,
    refetchInterval: () => unlessTold(LATER_MS),
  });
