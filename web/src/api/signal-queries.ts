import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { JobState } from '../../../src/core/job.ts';
import { call } from './call.ts';
import { offersQuery } from './queries.ts';

/**
 * What the server measures of itself. An older server measures nothing: its document lacks these
 * calls, and what would be drawn of them is left out.
 */
const LATER_MS = 10_000;
const SERIES_MINUTES = 60;

export interface Quantiles {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export interface DefinitionStats {
  key: string;
  depth: number;
  running: number;
  states: Record<JobState, number>;
  oldestAgeMs: number | null;
  successRate: number | null;
  failureRate: number | null;
  waitMs: Quantiles;
  runMs: Quantiles;
  retries: number;
}

/** A number for each minute, the oldest first. */
export interface Throughput {
  from: string;
  stepMs: number;
  succeeded: number[];
  failed: number[];
  cancelled: number[];
  retried: number[];
}

export interface Stats {
  at: string;
  windowMinutes: number;
  totals: Record<JobState, number>;
  definitions: DefinitionStats[];
  throughput: Throughput;
}

const statsQuery = (enabled: boolean) =>
  queryOptions({
    queryKey: ['stats'],
    queryFn: ({ signal }) =>
      call<Stats>('GET', '/v1/stats', { query: { seriesMinutes: SERIES_MINUTES }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: LATER_MS,
    enabled,
  });

/** Null where nothing is measured, and until the first answer. */
export function useStats(): Stats | null {
  return useQuery(statsQuery(useOffered('/v1/stats'))).data ?? null;
}

export function useOffered(path: string): boolean {
  const { data: offers = [] } = useQuery(offersQuery());
  return offers.includes(path);
}

export interface Alert {
  id: string;
  rule: string;
  status: 'firing' | 'resolved';
  definitionKey: string | null;
  scheduleId: string | null;
  jobId: string | null;
  since: string;
  resolvedAt: string | null;
  value: number;
  threshold: number;
  unit: string;
  message: string;
}

export interface AlertPage {
  alerts: Alert[];
  nextCursor: string | null;
}

export const alertsQuery = (cursor?: string) =>
  queryOptions({
    queryKey: ['alerts', cursor],
    queryFn: ({ signal }) => call<AlertPage>('GET', '/v1/alerts', { query: { cursor }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: LATER_MS,
  });

export interface AlertRule {
  rule: string;
  definitionKey: string | null;
  description: string;
  unit: string;
  enabled: boolean;
  threshold: number;
  windowSeconds: number | null;
  source: 'default' | 'config' | 'api';
  updatedAt: string | null;
}

export const alertRulesQuery = () =>
  queryOptions({
    queryKey: ['alert-rules'],
    queryFn: async ({ signal }) =>
      (await call<{ rules: AlertRule[] }>('GET', '/v1/alerts/rules', { signal })).rules,
    refetchInterval: LATER_MS,
  });
