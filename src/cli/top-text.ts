import type { Job, WorkerInfo } from '../client/index.ts';
import { columns } from './columns.ts';
import { age, duration } from '../core/duration.ts';

/** What `top` shows, as the server told it. */
export interface Snapshot {
  workers: WorkerInfo[];
  running: Job[];
  waiting: Job[];
  failed: Job[];
  /** How many of each were asked for: there may be more of what fills its list. */
  limit: number;
}

/** The lines of one look, within the given width; `rows` jobs at most. */
export function topText(seen: Snapshot, now: Date, widthMax: number, rows: number): string[] {
  const { workers, running, waiting, failed, limit } = seen;
  const alive = workers.filter(({ status }) => status !== 'dead');
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const busy = alive.reduce((sum, worker) => sum + worker.running.length, 0);
  const count = (jobs: readonly Job[]) => `${jobs.length}${jobs.length === limit ? '+' : ''}`;
  const head = [
    `${alive.length} ${alive.length === 1 ? 'worker' : 'workers'}`,
    `${busy} of ${slots} slots busy`,
    `${count(waiting)} waiting`,
    `${count(failed)} failed`,
  ];
  return [
    head.join('   '),
    '',
    ...columns([DEFINITION_HEADER, ...definitionRows(seen, now)], widthMax),
    '',
    ...columns([JOB_HEADER, ...running.slice(0, rows).map((job) => jobRow(job, now))], widthMax),
    ...(running.length > rows ? [`… ${running.length - rows} more`] : []),
  ];
}

const DEFINITION_HEADER = ['DEFINITION', 'WAITING', 'RUNNING', 'FAILED', 'OLDEST'];
const JOB_HEADER = ['RUNNING', 'DEFINITION', 'TRY', 'FOR', 'PROGRESS'];

function definitionRows({ running, waiting, failed }: Snapshot, now: Date): string[][] {
  const keys = [...new Set([...waiting, ...running, ...failed].map((job) => job.definitionKey))];
  return keys.toSorted().map((key) => {
    const of = (jobs: readonly Job[]) => jobs.filter(({ definitionKey }) => definitionKey === key);
    const queued = of(waiting).flatMap(({ status, queuedAt }) =>
      status === 'queued' && queuedAt !== null ? [Date.parse(queuedAt)] : [],
    );
    const oldest = queued.length === 0 ? '-' : age(now.getTime() - Math.min(...queued));
    return [key, ...[waiting, running, failed].map((jobs) => String(of(jobs).length)), oldest];
  });
}

function jobRow(job: Job, now: Date): string[] {
  const forMs = job.startedAt === null ? 0 : now.getTime() - Date.parse(job.startedAt);
  const { fraction = null, message = null } = job.progress ?? {};
  const share = fraction === null ? '' : `${Math.floor(fraction * 100)} %`;
  const tries = `${job.attempts}/${job.maxAttempts}`;
  const progress = [share, message ?? ''].join(' ').trim();
  return [job.jobId, job.definitionKey, tries, duration(forMs), progress];
}
