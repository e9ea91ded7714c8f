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

/** Rows of definitions, and of jobs, when the height is unknown. */
const ROWS_MAX = 20;

/** The output of `top` within the given width and height; null: the height is unknown. */
export function topText(
  seen: Snapshot,
  now: Date,
  widthMax: number,
  height: number | null,
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
    `${totals.suspended} suspended`,
    `${totals.failed} dead ${totals.failed === 1 ? 'letter' : 'letters'}`,
  ];
  const top = [
    head.join('   '),
    '',
    ...issueRows(seen.issues, widthMax, next),
    ...throughputLines(seen.throughput, widthMax),
    '',
  ];
  const listed = definitions.filter(isListed);
  // Besides their rows, definitions have a header, and jobs a header and an empty line.
  const room = height === null ? null : height - top.length - (running.length > 0 ? 3 : 1);
  const rows = shares(room, listed.length, running.length);
  const shown = busiest(listed, rows.definitions);
  // Jobs and counts are read one after the other.
  const left = Math.max(running.length, totals.running + totals.cancelling) - rows.jobs;
  return [
    ...top,
    ...columns([DEFINITION_HEADER, ...shown.map(definitionRow)], widthMax),
    ...(shown.length < listed.length
      ? [`… ${listed.length - shown.length} more: ${next('definitions')}`]
      : []),
    ...runningLines(running.slice(0, rows.jobs), now, widthMax),
    ...(running.length > rows.jobs ? [`… ${left} more`] : []),
  ];
}

/** Each list gets half of the room, and what the other leaves; a row says how many are left out. */
function shares(
  room: number | null,
  definitions: number,
  jobs: number,
): { definitions: number; jobs: number } {
  if (room === null) return { definitions: ROWS_MAX, jobs: ROWS_MAX };
  const some = Math.min(definitions, Math.max(room - jobs, Math.ceil(room / 2)));
  const others = Math.min(jobs, room - some);
  const fit = (rows: number, all: number) => Math.max(1, rows < all ? rows - 1 : rows);
  return { definitions: fit(some, definitions), jobs: fit(others, jobs) };
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

const DEFINITION_HEADER = [
  'DEFINITION',
  'WAITING',
  'RUNNING',
  'SUSPENDED',
  'DEAD LETTERS',
  'OLDEST',
];
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

type Counted = Stats['definitions'][number];

const countsOf = ({ states, running }: Counted) => [
  waitingOf(states),
  running,
  states.suspended,
  states.failed,
];

/** Definitions without open or failed jobs have no row. */
function isListed(one: Counted): boolean {
  return countsOf(one).some((count) => count > 0);
}

/** Those with most jobs, in the order of all. */
function busiest(all: readonly Counted[], rows: number): readonly Counted[] {
  const open = (one: Counted) => waitingOf(one.states) + one.running + one.states.suspended;
  const first = all.toSorted((a, b) => open(b) - open(a) || b.states.failed - a.states.failed);
  const shown = new Set(first.slice(0, rows));
  return all.filter((one) => shown.has(one));
}

function definitionRow(one: Counted): string[] {
  const oldest = one.oldestAgeMs === null ? '-' : age(one.oldestAgeMs);
  return [one.key, ...countsOf(one).map(String), oldest];
}

function jobRow(job: Job, now: Date, widthMax: number): string[] {
  const forMs = job.startedAt === null ? 0 : now.getTime() - Date.parse(job.startedAt);
  const { fraction = null, message = null } = job.progress ?? {};
  const share = fraction === null ? '' : `${Math.floor(fraction * 100)} %`;
  const tries = `${job.attempts}/${job.maxAttempts}`;
  const progress = [share, message ?? ''].join(' ').trim();
  return [idCell(job.jobId, widthMax), job.definitionKey, tries, duration(forMs), progress];
}
