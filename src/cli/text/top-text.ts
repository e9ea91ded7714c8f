import type { Job, Stats, WorkerInfo } from '../../client/index.ts';
import { age, duration } from '../../core/values/duration.ts';
import { columns } from './columns.ts';

/** Data of `top`: all counts, and the newest running jobs. */
export interface Snapshot extends Pick<Stats, 'totals' | 'definitions'> {
  workers: WorkerInfo[];
  running: Job[];
}

/** The output of `top` within the given width; at most `rows` jobs. */
export function topText(seen: Snapshot, now: Date, widthMax: number, rows: number): string[] {
  const { workers, running, totals, definitions } = seen;
  const alive = workers.filter(({ status }) => status !== 'dead');
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const busy = alive.reduce((sum, worker) => sum + worker.running.length, 0);
  const head = [
    `${alive.length} ${alive.length === 1 ? 'worker' : 'workers'}`,
    `${busy} of ${slots} slots busy`,
    `${waitingOf(totals)} waiting`,
    `${totals.failed} failed`,
  ];
  // Jobs and counts are read one after the other.
  const left = Math.max(running.length, totals.running + totals.cancelling) - rows;
  return [
    head.join('   '),
    '',
    ...columns([DEFINITION_HEADER, ...definitions.flatMap(definitionRow)], widthMax),
    '',
    ...columns([JOB_HEADER, ...running.slice(0, rows).map((job) => jobRow(job, now))], widthMax),
    ...(running.length > rows ? [`… ${left} more`] : []),
  ];
}

const DEFINITION_HEADER = ['DEFINITION', 'WAITING', 'RUNNING', 'FAILED', 'OLDEST'];
const JOB_HEADER = ['RUNNING', 'DEFINITION', 'ATTEMPT', 'FOR', 'PROGRESS'];

function waitingOf({ queued, scheduled, retrying, created }: Stats['totals']): number {
  return queued + scheduled + retrying + created;
}

/** Definitions without open or failed jobs have no row. */
function definitionRow(one: Stats['definitions'][number]): string[][] {
  const counts = [waitingOf(one.states), one.running, one.states.failed];
  if (counts.every((count) => count === 0)) return [];
  const oldest = one.oldestAgeMs === null ? '-' : age(one.oldestAgeMs);
  return [[one.key, ...counts.map(String), oldest]];
}

function jobRow(job: Job, now: Date): string[] {
  const forMs = job.startedAt === null ? 0 : now.getTime() - Date.parse(job.startedAt);
  const { fraction = null, message = null } = job.progress ?? {};
  const share = fraction === null ? '' : `${Math.floor(fraction * 100)} %`;
  const tries = `${job.attempts}/${job.maxAttempts}`;
  const progress = [share, message ?? ''].join(' ').trim();
  return [job.jobId, job.definitionKey, tries, duration(forMs), progress];
}
