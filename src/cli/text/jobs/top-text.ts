import type { Job, Stats, WorkerInfo } from '../../../client/index.ts';
import type { Problem } from '../../../core/problems/problem.ts';
import { age, duration } from '../../../core/values/duration.ts';
import { columns } from '../columns.ts';
import { nextCommand } from '../next-command.ts';
import { issueLines } from './issue-text.ts';
import { idCell } from '../id-cell.ts';
import { sparkline } from './sparkline.ts';

/** Data of `top`: all counts, the throughput of the last minutes, and the newest running jobs. */
export interface Snapshot extends Pick<Stats, 'at' | 'totals' | 'definitions' | 'throughput'> {
  /** What needs attention, worst first. */
  issues: Problem[];
  workers: WorkerInfo[];
  running: Job[];
}

/** The output of `top` within the given width; at most `rows` jobs. */
export function topText(
  seen: Snapshot,
  now: Date,
  widthMax: number,
  rows: number,
  next = (command: string) => nextCommand(command, {}),
): string[] {
  const { workers, running, totals, definitions } = seen;
  const alive = workers.filter(({ status }) => status !== 'dead');
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const busy = alive.reduce((sum, worker) => sum + worker.busy, 0);
  const head = [
    `${alive.length} ${alive.length === 1 ? 'worker' : 'workers'}`,
    `${busy} of ${slots} slots busy`,
    `${waitingOf(totals)} waiting`,
    `${totals.failed} dead ${totals.failed === 1 ? 'letter' : 'letters'}`,
  ];
  // Jobs and counts are read one after the other.
  const left = Math.max(running.length, totals.running + totals.cancelling) - rows;
  return [
    head.join('   '),
    '',
    ...issueRows(seen.issues, widthMax, next),
    ...throughputLines(seen.throughput, widthMax),
    '',
    ...columns([DEFINITION_HEADER, ...definitions.flatMap(definitionRow)], widthMax),
    ...runningLines(running.slice(0, rows), now, widthMax),
    ...(running.length > rows ? [`… ${left} more`] : []),
  ];
}

function runningLines(jobs: readonly Job[], now: Date, widthMax: number): string[] {
  if (jobs.length === 0) return [];
  return ['', ...columns([JOB_HEADER, ...jobs.map((job) => jobRow(job, now, widthMax))], widthMax)];
}

/** The first few; `longshore issues` has all. */
const ISSUES_SHOWN = 4;

function issueRows(
  issues: readonly Problem[],
  widthMax: number,
  next: (command: string) => string,
): string[] {
  if (issues.length === 0) return [];
  const left = issues.length - ISSUES_SHOWN;
  return [
    ...issueLines(issues.slice(0, ISSUES_SHOWN), next, widthMax),
    ...(left > 0 ? [`… ${left} more: ${next('issues')}`] : []),
    '',
  ];
}

const DEFINITION_HEADER = ['DEFINITION', 'WAITING', 'RUNNING', 'DEAD LETTERS', 'OLDEST'];
const JOB_HEADER = ['RUNNING', 'DEFINITION', 'ATTEMPT', 'FOR', 'PROGRESS'];
const SHOWN = ['enqueued', 'started', 'succeeded', 'failed', 'retried'] as const;

/** A bar for each minute; the current one is not over, so it has a number of its own. */
function throughputLines(throughput: Stats['throughput'], widthMax: number): string[] {
  const minutes = throughput.enqueued.length;
  const header = [
    'PER MINUTE',
    `LAST ${minutes} MIN`,
    'LAST MINUTE',
    'THIS MINUTE',
    `${minutes} MIN`,
  ];
  const rows = SHOWN.map((name) => {
    const values = throughput[name];
    const sum = values.reduce((all, one) => all + one, 0);
    return [name, sparkline(values), ...[values.at(-2) ?? 0, values.at(-1) ?? 0, sum].map(String)];
  });
  return columns([header, ...rows], widthMax);
}

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

function jobRow(job: Job, now: Date, widthMax: number): string[] {
  const forMs = job.startedAt === null ? 0 : now.getTime() - Date.parse(job.startedAt);
  const { fraction = null, message = null } = job.progress ?? {};
  const share = fraction === null ? '' : `${Math.floor(fraction * 100)} %`;
  const tries = `${job.attempts}/${job.maxAttempts}`;
  const progress = [share, message ?? ''].join(' ').trim();
  return [idCell(job.jobId, widthMax), job.definitionKey, tries, duration(forMs), progress];
}
