import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { AlertRuleView, AlertView } from '../../../src/core/alert/alert.ts';
import type { AlertMessageView, AlertRouteView } from '../../../src/core/alert/route.ts';
import type { ScaleView } from '../../../src/core/views/scale.ts';
import type { SeriesView } from '../../../src/core/series/series.ts';
import type { StatsView } from '../../../src/core/views/stats.ts';
import { type ChartSearch, rangeOf, seriesRange } from '../words/charts/range.ts';
import { read, readList } from './call.ts';
import { pollMs } from './connection.ts';
import { offersQuery } from './queries.ts';

/** Metrics of the server. An older server lacks these calls; the screens then leave them out. */
const LATER_MS = 10_000;
const SERIES_MINUTES = 60;

export const statsQuery = () =>
  queryOptions({
    queryKey: ['stats'],
    queryFn: read<StatsView>('/v1/stats', { seriesMinutes: SERIES_MINUTES }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

/** Null if the server has no stats, and until the first response. */
export function useStats(): StatsView | null {
  return useQuery({ ...statsQuery(), enabled: useOffered('/v1/stats') }).data ?? null;
}

/**
 * What happened over time, of one definition or of all, with histograms for the heat map. A
 * fixed range is not read again while it ends in the past.
 */
export function useSeries(
  search: ChartSearch,
  definitionKey: string | null,
): { series: SeriesView | null; error: Error | null } {
  const query = {
    ...seriesRange(search),
    ...(definitionKey !== null && { definitionKey }),
    histograms: 'true',
  };
  const { data = null, error } = useQuery({
    queryKey: ['series', query],
    queryFn: read<SeriesView>('/v1/series', query),
    placeholderData: keepPreviousData,
    refetchInterval: () => (rangeOf(search) === null ? false : pollMs(LATER_MS)),
    enabled: useOffered('/v1/series'),
  });
  return { series: data, error };
}

/** Null if the server has no such call, and until the first response. */
export function useScale(): ScaleView | null {
  const query = queryOptions({
    queryKey: ['scale'],
    queryFn: read<ScaleView>('/v1/scale'),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });
  return useQuery({ ...query, enabled: useOffered('/v1/scale') }).data ?? null;
}

export function useOffered(path: string): boolean {
  const { data: offers = [] } = useQuery(offersQuery());
  return offers.includes(path);
}

export interface AlertPage {
  alerts: AlertView[];
  nextCursor: string | null;
}

/** Resolved alerts, newest first. */
export const resolvedAlertsQuery = (cursor?: string) =>
  queryOptions({
    queryKey: ['alerts', 'resolved', cursor],
    queryFn: read<AlertPage>('/v1/alerts', { status: 'resolved', cursor }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

const FIRING_MAX = 100;

/** Firing alerts, newest first. */
export const firingAlertsQuery = () =>
  queryOptions({
    queryKey: ['alerts', 'firing'],
    queryFn: read<AlertPage>('/v1/alerts', { status: 'firing', limit: FIRING_MAX }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const alertRulesQuery = () =>
  queryOptions({
    queryKey: ['alert-rules'],
    queryFn: readList<AlertRuleView>('rules', '/v1/alerts/rules'),
    refetchInterval: () => pollMs(LATER_MS),
  });

export const alertRoutesQuery = () =>
  queryOptions({
    queryKey: ['alert-routes'],
    queryFn: readList<AlertRouteView>('routes', '/v1/alerts/routes'),
    refetchInterval: () => pollMs(LATER_MS),
  });

const MESSAGES_POLL_MS = 2_000;
const MESSAGES_SHOWN = 20;

/** The newest messages of a route. A test is watched here, so it is read often. */
export const alertMessagesQuery = (route: string) =>
  queryOptions({
    queryKey: ['alert-messages', route],
    queryFn: read<{ messages: AlertMessageView[] }>(
      `/v1/alerts/routes/${encodeURIComponent(route)}/messages`,
      { limit: MESSAGES_SHOWN },
    ),
    refetchInterval: MESSAGES_POLL_MS,
  });
