import { useQuery } from '@tanstack/react-query';
import type { PauseView } from '../../../../src/core/flow-view.ts';
import type { StatsView } from '../../../../src/core/stats.ts';
import { useStats } from '../../api/signal-queries.ts';
import { groupsQuery, type GroupPage } from '../../api/failure-queries.ts';
import { now } from '../../runtime/clock.ts';
import { lastDay } from '../../words/since.ts';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { ScheduleView } from '../../../../src/core/schedule.ts';
import type { WorkerView } from '../../../../src/core/worker.ts';
import {
  definitionsQuery,
  type JobPage,
  jobsQuery,
  pausesQuery,
  schedulesQuery,
  workersQuery,
} from '../../api/queries.ts';

/** All that the overview is made of. Of each kind of jobs one page: what is more is told as "more". */
export interface Overview {
  /** What failed for good within a day. */
  failures: GroupPage;
  pauses: PauseView[];
  queued: JobPage;
  running: JobPage;
  retrying: JobPage;
  workers: WorkerView[];
  definitions: PublishedDefinition[];
  schedules: ScheduleView[];
  /** Null where the server measures nothing. */
  stats: StatsView | null;
}

const LIMIT = 50;
const EVERY_MS = 5_000;

export function useOverview(): Overview | null {
  const failures = useQuery(groupsQuery({ from: lastDay(now()) }));
  const pauses = useQuery(pausesQuery());
  const oldest = { sort: 'createdAt', limit: LIMIT } as const;
  const queued = useQuery(jobsQuery({ status: ['queued'], ...oldest }, EVERY_MS));
  const running = useQuery(jobsQuery({ status: ['running', 'cancelling'], ...oldest }, EVERY_MS));
  const retrying = useQuery(jobsQuery({ status: ['retrying'], ...oldest }, EVERY_MS));
  const workers = useQuery(workersQuery());
  const definitions = useQuery(definitionsQuery());
  const schedules = useQuery(schedulesQuery());
  const stats = useStats();
  if (!failures.data || !pauses.data || !queued.data || !running.data || !retrying.data)
    return null;
  if (!workers.data || !definitions.data || !schedules.data) return null;
  return {
    failures: failures.data,
    pauses: pauses.data,
    queued: queued.data,
    running: running.data,
    retrying: retrying.data,
    workers: workers.data,
    definitions: definitions.data,
    schedules: schedules.data.schedules,
    stats,
  };
}

/** A page that is not the last says only how many there are at least. */
export function countOf({ jobs, nextCursor }: JobPage): string {
  return nextCursor === null ? String(jobs.length) : `${jobs.length}+`;
}

/** How often jobs failed for good within a day. */
export function timesFailed({ failures: { groups, complete } }: Overview): string {
  const times = groups.reduce((sum, { count }) => sum + count, 0);
  const isExact = complete && groups.every(({ countIsExact }) => countIsExact);
  return `${times.toLocaleString('en')}${isExact ? '' : '+'}`;
}
