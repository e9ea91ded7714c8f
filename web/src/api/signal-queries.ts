import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { AlertRuleView, AlertView } from '../../../src/core/views/alert.ts';
import type { StatsView } from '../../../src/core/views/stats.ts';
import { call } from './call.ts';
import { pollMs } from './connection.ts';
import { offersQuery } from './queries.ts';

/** Metrics of the server. An older server lacks these calls; the screens then leave them out. */
const LATER_MS = 10_000;
const SERIES_MINUTES = 60;

export const statsQuery = () =>
  queryOptions({
    queryKey: ['stats'],
    queryFn: ({ signal }) =>
      call<StatsView>('GET', '/v1/stats', { query: { seriesMinutes: SERIES_MINUTES }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

/** Null if the server has no stats, and until the first response. */
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
    refetchInterval: () => pollMs(LATER_MS),
  });

const FIRING_MAX = 100;

/** Firing alerts, newest first. */
export const firingAlertsQuery = () =>
  queryOptions({
    queryKey: ['alerts', 'firing'],
    queryFn: ({ signal }) =>
      call<AlertPage>('GET', '/v1/alerts', {
        query: { status: 'firing', limit: FIRING_MAX },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const alertRulesQuery = () =>
  queryOptions({
    queryKey: ['alert-rules'],
    queryFn: async ({ signal }) =>
      (await call<{ rules: AlertRuleView[] }>('GET', '/v1/alerts/rules', { signal })).rules,
    refetchInterval: () => pollMs(LATER_MS),
  });
