import type { Unsearched } from '../../../src/core/search/unsearched.ts';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { PublishedDefinition } from '../../../src/client/job.ts';
import type { RelatedJobs } from '../../../src/core/dependency/related.ts';
import type { PauseView } from '../../../src/core/queue/limit-view.ts';
import { isTerminal, type JobState, type JobView } from '../../../src/core/job/job.ts';
import type { ScheduleView, SlotView } from '../../../src/core/schedule/schedule.ts';
import type { Scope } from '../../../src/core/access/scope.ts';
import type { SsoUser } from '../../../src/core/identity/sso-user.ts';
import type { AttemptView, EventView, StepsView } from '../../../src/core/views/history.ts';
import type { WorkerView } from '../../../src/core/queue/worker.ts';
import { now } from '../runtime/clock.ts';
import { SINCE_MS, type Since } from '../words/since.ts';
import { call, read, readList } from './call.ts';
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
  searchedUntil: string | null;
  unsearched: Unsearched[];
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

/** The query of the API. */
export function jobsAskedQuery({ since, ...query }: JobsAsked) {
  const createdAfter = since && new Date(now().getTime() - SINCE_MS[since]).toISOString();
  return { ...query, createdAfter };
}

export const jobsQuery = (asked: JobsAsked, everyMs = SOON_MS) =>
  queryOptions({
    queryKey: ['jobs', asked],
    queryFn: ({ signal }) =>
      call<JobPage>('GET', '/v1/jobs', { query: jobsAskedQuery(asked), signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.jobs.some(isRunning) ? everyMs : pollMs(everyMs)),
  });

/** Jobs whose id begins or ends with these digits. */
export const jobsByIdQuery = (id: string) =>
  queryOptions({
    queryKey: ['jobs-by-id', id],
    queryFn: readList<JobView>('jobs', '/v1/jobs', { id }),
    staleTime: LATER_MS,
  });

export const jobQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['job', jobId],
    queryFn: read<JobView>(`/v1/jobs/${encodeURIComponent(jobId)}`),
    refetchInterval: ({ state: { data } }) => {
      if (data && isRunning(data)) return SOON_MS;
      return pollMs(data && isTerminal(data.status) ? LATER_MS : SOON_MS);
    },
  });

export function isRunning({ status }: JobView): boolean {
  return status === 'running' || status === 'cancelling';
}

/** What the job waits for, and what was enqueued after it. */
export const relatedQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['related', jobId],
    queryFn: read<RelatedJobs>(`/v1/jobs/${encodeURIComponent(jobId)}/related`),
    refetchInterval: () => pollMs(SOON_MS),
  });

/** Refetched when `updatedAt` changes: the history only grows then. */
export const attemptsQuery = (jobId: string, job: JobView | undefined) =>
  queryOptions({
    queryKey: ['attempts', jobId, job?.updatedAt, job?.status],
    queryFn: readList<AttemptView>('attempts', `/v1/jobs/${jobId}/attempts`),
    placeholderData: keepPreviousData,
    enabled: job !== undefined,
  });

/** What its steps have stored so far; a suspended job has its wait there. */
export const stepsQuery = (jobId: string, job: JobView | undefined) =>
  queryOptions({
    queryKey: ['steps', jobId, job?.updatedAt, job?.status],
    queryFn: read<StepsView>(`/v1/jobs/${jobId}/steps`),
    placeholderData: keepPreviousData,
    enabled: job !== undefined,
    refetchInterval: job && isRunning(job) ? LATER_MS : false,
  });

const EVENTS_SHOWN = 1_000;

export const eventsQuery = (jobId: string, job: JobView | undefined) =>
  queryOptions({
    queryKey: ['events', jobId, job?.updatedAt, job?.status],
    queryFn: read<{ events: EventView[]; nextCursor: string | null }>(`/v1/jobs/${jobId}/events`, {
      limit: EVENTS_SHOWN,
    }),
    placeholderData: keepPreviousData,
    enabled: job !== undefined,
    refetchInterval: job && !isTerminal(job.status) ? SOON_MS : false,
  });

export const workersQuery = () =>
  queryOptions({
    queryKey: ['workers'],
    queryFn: readList<WorkerView>('workers', '/v1/workers'),
    refetchInterval: SOON_MS,
  });

export const definitionsQuery = () =>
  queryOptions({
    queryKey: ['definitions'],
    queryFn: readList<PublishedDefinition>('definitions', '/v1/definitions'),
    refetchInterval: () => pollMs(LATER_MS),
  });

export const pausesQuery = () =>
  queryOptions({
    queryKey: ['pauses'],
    queryFn: readList<PauseView>('pauses', '/v1/pauses'),
    refetchInterval: () => pollMs(LATER_MS),
  });

export interface SchedulePage {
  schedules: ScheduleView[];
  nextCursor: string | null;
}

export const schedulesQuery = (cursor?: string, definitionKey?: string, limit?: number) =>
  queryOptions({
    queryKey: ['schedules', cursor, definitionKey, limit],
    queryFn: read<SchedulePage>('/v1/schedules', { cursor, definitionKey, limit }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

/** The most that a page of the API has. */
const PAGE_MAX = 200;

/** All schedules, as far as one page reaches: for what looks at each of them. */
export const manySchedulesQuery = () => schedulesQuery(undefined, undefined, PAGE_MAX);

export const scheduleQuery = (id: string) =>
  queryOptions({
    queryKey: ['schedule', id],
    queryFn: read<ScheduleView>(`/v1/schedules/${encodeURIComponent(id)}`),
    refetchInterval: () => pollMs(LATER_MS),
  });

/** The newest slots. Refetched when the last slot of the schedule changes. */
export const slotsQuery = (schedule: ScheduleView, limit: number) =>
  queryOptions({
    queryKey: ['slots', schedule.id, limit, schedule.lastSlot],
    queryFn: readList<SlotView>('slots', `/v1/schedules/${schedule.id}/slots`, { limit }),
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
    queryFn: readList<Upcoming>('next', `/v1/schedules/${schedule.id}/next`, { count }),
    placeholderData: keepPreviousData,
  });

/** The runs of a timing that is not stored. Never retried: an invalid expression stays invalid. */
export const previewQuery = (timing: Readonly<Record<string, string>>, count: number) =>
  queryOptions({
    queryKey: ['preview', timing, count],
    queryFn: readList<Upcoming>('next', '/v1/schedules/preview', { ...timing, count }),
    placeholderData: keepPreviousData,
    staleTime: LATER_MS,
  });

export interface CallerView {
  kind: string;
  tenant: string;
  scopes: Scope[];
  keyId: string | null;
  sessionId: string | null;
  user: SsoUser | null;
  expiresAt: string | null;
}

/** The session of this browser, for servers that have sessions. */
export const sessionQuery = (enabled: boolean) =>
  queryOptions({
    queryKey: ['session'],
    queryFn: read<CallerView>('/v1/session'),
    enabled,
    staleTime: LATER_MS,
  });

/** Ways to sign in besides a key. */
export const signInQuery = () =>
  queryOptions({
    queryKey: ['sign-in'],
    queryFn: read<{ sso: { url: string; hasTenants?: boolean } | null }>('/v1/sign-in'),
    staleTime: Number.POSITIVE_INFINITY,
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
