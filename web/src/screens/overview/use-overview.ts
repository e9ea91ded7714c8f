import { useQuery } from '@tanstack/react-query';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { ScheduleView } from '../../../../src/core/schedule.ts';
import type { WorkerView } from '../../../../src/core/worker.ts';
import {
  definitionsQuery,
  type JobPage,
  jobsQuery,
  schedulesQuery,
  workersQuery,
} from '../../api/queries.ts';

/** All that the overview is made of. Of each kind of jobs one page: what is more is told as "more". */
export interface Overview {
  failed: JobPage;
  queued: JobPage;
  running: JobPage;
  retrying: JobPage;
  workers: WorkerView[];
  definitions: PublishedDefinition[];
  schedules: ScheduleView[];
}

const LIMIT = 50;
const EVERY_MS = 5_000;

export function useOverview(): Overview | null {
  const failed = useQuery(jobsQuery({ status: ['failed'], since: '24h', limit: LIMIT }, EVERY_MS));
  const oldest = { sort: 'createdAt', limit: LIMIT } as const;
  const queued = useQuery(jobsQuery({ status: ['queued'], ...oldest }, EVERY_MS));
  const running = useQuery(jobsQuery({ status: ['running', 'cancelling'], ...oldest }, EVERY_MS));
  const retrying = useQuery(jobsQuery({ status: ['retrying'], ...oldest }, EVERY_MS));
  const workers = useQuery(workersQuery());
  const definitions = useQuery(definitionsQuery());
  const schedules = useQuery(schedulesQuery());
  if (!failed.data || !queued.data || !running.data || !retrying.data) return null;
  if (!workers.data || !definitions.data || !schedules.data) return null;
  return {
    failed: failed.data,
    queued: queued.data,
    running: running.data,
    retrying: retrying.data,
    workers: workers.data,
    definitions: definitions.data,
    schedules: schedules.data.schedules,
  };
}

/** A page that is not the last says only how many there are at least. */
export function countOf({ jobs, nextCursor }: JobPage): string {
  return nextCursor === null ? String(jobs.length) : `${jobs.length}+`;
}
