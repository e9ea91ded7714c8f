import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { PublishedDefinition } from '../../../src/client/job.ts';
import type { PauseView } from '../../../src/core/queue/limit-view.ts';
import { isTerminal, type JobState, type JobView } from '../../../src/core/job/job.ts';
import type { ScheduleView, SlotView } from '../../../src/core/schedule/schedule.ts';
import type { Scope } from '../../../src/core/access/scope.ts';
import type { AttemptView, EventView } from '../../../src/core/views/history.ts';
import type { WorkerView } from '../../../src/core/queue/worker.ts';
import { now } from '../runtime/clock.ts';
import { SINCE_MS, type Since } from '../words/since.ts';
import { call } from './call.ts';
import { pollMs } from './connection.ts';

/**
 * Queries of the screens and their poll intervals. While the change feed is open
 * (`api/use-change-feed.ts`) queries are polled seldom, except for heartbeats and progress, which
 * the feed does not announce. A hidden tab does not poll (`refetchInterval`).
 */
const SOON_MS = 2_000;
const LATER_MS = 5_000;

export interface JobPage {
  jobs: JobView[];
  nextCursor: string | null;
}

/** `since` counts back from the time of the request. */
export interface JobsAsked {
  status?: readonly JobState[] | undefined;
  definitionKey?: string | undefined;
  tag?: string | undefined;
  errorCode?: string | undefined;
  q?: string | undefined;
  since?: Since | undefined;
  sort?: string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

export const jobsQuery = (asked: JobsAsked, everyMs = SOON_MS) =>
  queryOptions({
    queryKey: ['jobs', asked],
    queryFn: ({ signal }) => {
      const { since, ...query } = asked;
      const createdAfter = since && new Date(now().getTime() - SINCE_MS[since]).toISOString();
      return call<JobPage>('GET', '/v1/jobs', { query: { ...query, createdAfter }, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.jobs.some(isRunning) ? everyMs : pollMs(everyMs)),
  });

export const jobQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['job', jobId],
    queryFn: ({ signal }) =>
      call<JobView>('GET', `/v1/jobs/${encodeURIComponent(jobId)}`, { signal }),
    refetchInterval: ({ state: { data } }) => {
      if (data && isRunning(data)) return SOON_MS;
      return pollMs(data && isTerminal(data.status) ? LATER_MS : SOON_MS);
    },
  });

function isRunning({ status }: JobView): boolean {
  return status === 'running' || status === 'cancelling';
}

/** Refetched when `updatedAt` changes: the history only grows then. */
export const attemptsQuery = (jobId: string, job: JobView | undefined) =>
  queryOptions({
    queryKey: ['attempts', jobId, job?.updatedAt, job?.status],
    queryFn: async ({ signal }) =>
      (await call<{ attempts: AttemptView[] }>('GET', `/v1/jobs/${jobId}/attempts`, { signal }))
        .attempts,
    placeholderData: keepPreviousData,
    enabled: job !== undefined,
  });

const EVENTS_SHOWN = 1_000;

export const eventsQuery = (jobId: string, job: JobView | undefined) =>
  queryOptions({
    queryKey: ['events', jobId, job?.updatedAt, job?.status],
    queryFn: ({ signal }) =>
      call<{ events: EventView[]; nextCursor: string | null }>('GET', `/v1/jobs/${jobId}/events`, {
        query: { limit: EVENTS_SHOWN },
        signal,
      }),
    placeholderData: keepPreviousData,
    enabled: job !== undefined,
    refetchInterval: job && !isTerminal(job.status) ? SOON_MS : false,
  });

export const workersQuery = () =>
  queryOptions({
    queryKey: ['workers'],
    queryFn: async ({ signal }) =>
      (await call<{ workers: WorkerView[] }>('GET', '/v1/workers', { signal })).workers,
    refetchInterval: SOON_MS,
  });

export const definitionsQuery = () =>
  queryOptions({
    queryKey: ['definitions'],
    queryFn: async ({ signal }) =>
      (await call<{ definitions: PublishedDefinition[] }>('GET', '/v1/definitions', { signal }))
        .definitions,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const pausesQuery = () =>
  queryOptions({
    queryKey: ['pauses'],
    queryFn: async ({ signal }) =>
      (await call<{ pauses: PauseView[] }>('GET', '/v1/pauses', { signal })).pauses,
    refetchInterval: () => pollMs(LATER_MS),
  });

export interface SchedulePage {
  schedules: ScheduleView[];
  nextCursor: string | null;
}

export const schedulesQuery = (cursor?: string, definitionKey?: string) =>
  queryOptions({
    queryKey: ['schedules', cursor, definitionKey],
    queryFn: ({ signal }) =>
      call<SchedulePage>('GET', '/v1/schedules', { query: { cursor, definitionKey }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const scheduleQuery = (id: string) =>
  queryOptions({
    queryKey: ['schedule', id],
    queryFn: ({ signal }) =>
      call<ScheduleView>('GET', `/v1/schedules/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: () => pollMs(LATER_MS),
  });

/** The newest slots. Refetched when the last slot of the schedule changes. */
export const slotsQuery = (schedule: ScheduleView, limit: number) =>
  queryOptions({
    queryKey: ['slots', schedule.id, limit, schedule.lastSlot],
    queryFn: async ({ signal }) =>
      (
        await call<{ slots: SlotView[] }>('GET', `/v1/schedules/${schedule.id}/slots`, {
          query: { limit },
          signal,
        })
      ).slots,
    placeholderData: keepPreviousData,
  });

export interface Upcoming {
  at: string;
  offset: string;
  note: string | null;
}

export const upcomingQuery = (schedule: ScheduleView, count: number) =>
  queryOptions({
    queryKey: ['upcoming', schedule.id, count, schedule.nextAt, schedule.updatedAt],
    queryFn: async ({ signal }) =>
      (
        await call<{ next: Upcoming[] }>('GET', `/v1/schedules/${schedule.id}/next`, {
          query: { count },
          signal,
        })
      ).next,
    placeholderData: keepPreviousData,
  });

export interface SessionView {
  kind: string;
  tenant: string;
  scopes: Scope[];
  keyId: string | null;
  expiresAt: string | null;
}

/** The session of this browser, for servers that have sessions. */
export const sessionQuery = (enabled: boolean) =>
  queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }) => call<SessionView>('GET', '/v1/session', { signal }),
    enabled,
    staleTime: LATER_MS,
  });

/** The paths of the server's OpenAPI document: an older server lacks calls. */
export const offersQuery = () =>
  queryOptions({
    queryKey: ['openapi'],
    queryFn: async ({ signal }) => {
      const { paths } = await call<{ paths: Record<string, object> }>('GET', '/openapi.json', {
        signal,
      });
      return Object.keys(paths);
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
