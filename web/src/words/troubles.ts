import { duration } from '../../../src/core/duration.ts';
import type { JobState, JobView } from '../../../src/core/job.ts';
import type { ScheduleView } from '../../../src/core/schedule.ts';
import { failureGroups } from './failure-groups.ts';
import type { World } from './why-not-running.ts';

/**
 * What needs a person, worst first: the line at the top of the overview. Every rule is one function
 * below, and each trouble says what it saw, so that nobody has to guess why something is red.
 */
export interface Trouble {
  text: string;
  owner: string | null;
  place: Place;
}

/** Where a trouble is looked at. */
export type Place =
  | { at: 'job'; jobId: string }
  | { at: 'jobs'; status: JobState[] }
  | { at: 'workers' }
  | { at: 'schedule'; scheduleId: string };

/** The newest failures, the oldest that wait, and what runs: pages of the API, not everything. */
export interface Seen extends World {
  failed: readonly JobView[];
  queued: readonly JobView[];
  running: readonly JobView[];
  schedules: readonly ScheduleView[];
}

const LONG_WAIT_MS = 5 * 60_000;
const OVERDUE_MS = 60_000;
const FAILURES_TOLD = 5;

export function troubles(seen: Seen, now: Date): Trouble[] {
  return [
    ...noWorker(seen),
    ...lostWorkers(seen, now),
    ...lostJobs(seen, now),
    ...unhandled(seen),
    ...longWaits(seen, now),
    ...failures(seen),
    ...lateSchedules(seen, now),
    ...failedSchedules(seen),
  ];
}

function noWorker({ workers, definitions, queued }: Seen): Trouble[] {
  const alive = workers.some(({ status }) => status !== 'dead');
  if (alive || (definitions.length === 0 && queued.length === 0)) return [];
  return [{ text: 'No worker is alive: nothing runs.', owner: null, place: { at: 'workers' } }];
}

function lostWorkers({ workers }: Seen, now: Date): Trouble[] {
  return workers
    .filter(({ status, leaseExpiresAt }) => status !== 'dead' && msSince(leaseExpiresAt, now) > 0)
    .map(({ host, pid, heartbeatAt }) => ({
      text: `Worker ${host} (pid ${pid}) was last heard of ${duration(msSince(heartbeatAt, now))} ago.`,
      owner: null,
      place: { at: 'workers' },
    }));
}

function lostJobs({ running }: Seen, now: Date): Trouble[] {
  return running
    .filter(({ leaseExpiresAt }) => leaseExpiresAt !== null && msSince(leaseExpiresAt, now) > 0)
    .map(({ jobId, definitionKey, owner, leaseExpiresAt }) => ({
      text: `A job of ${definitionKey} has lost its worker ${duration(msSince(leaseExpiresAt ?? '', now))} ago.`,
      owner,
      place: { at: 'job', jobId },
    }));
}

function unhandled({ queued }: Seen): Trouble[] {
  const odd = queued.filter(({ warnings }) => warnings.some(({ code }) => code === 'UNHANDLED'));
  return byDefinition(odd).map(({ key, jobs, first }) => ({
    text: `${count(jobs.length, 'job')} of ${key} ${jobs.length === 1 ? 'waits' : 'wait'}, and no worker has this definition.`,
    owner: first.owner,
    place: { at: 'job', jobId: first.jobId },
  }));
}

function longWaits({ queued }: Seen, now: Date): Trouble[] {
  const late = queued.filter(
    ({ warnings, queuedAt }) =>
      warnings.length === 0 && queuedAt !== null && msSince(queuedAt, now) > LONG_WAIT_MS,
  );
  return byDefinition(late).map(({ key, first }) => ({
    text: `Jobs of ${key} wait: the oldest for ${duration(msSince(first.queuedAt ?? '', now))}.`,
    owner: first.owner,
    place: { at: 'job', jobId: first.jobId },
  }));
}

function failures({ failed }: Seen): Trouble[] {
  const groups = failureGroups(failed);
  const told: Trouble[] = groups
    .slice(0, FAILURES_TOLD)
    .map(({ definitionKey, owner, code, message, count: times, jobId }) => ({
      text: `${definitionKey} failed${times === 1 ? '' : ` ${times} times`}: ${code} ${firstLine(message)}`,
      owner,
      place: { at: 'job', jobId },
    }));
  const more = groups.length - FAILURES_TOLD;
  if (more <= 0) return told;
  const text = `And ${count(more, 'other kind')} of failures.`;
  return [...told, { text, owner: null, place: { at: 'jobs', status: ['failed'] } }];
}

function lateSchedules({ schedules }: Seen, now: Date): Trouble[] {
  return schedules
    .filter(
      ({ enabled, nextAt }) => enabled && nextAt !== null && msSince(nextAt, now) > OVERDUE_MS,
    )
    .map((schedule) => ({
      text: `Schedule ${nameOf(schedule)} is overdue by ${duration(msSince(schedule.nextAt ?? '', now))}: does a scheduler run?`,
      owner: null,
      place: { at: 'schedule', scheduleId: schedule.id },
    }));
}

function failedSchedules({ schedules }: Seen): Trouble[] {
  return schedules
    .filter(({ enabled, lastSlot }) => enabled && lastSlot?.jobStatus === 'failed')
    .map((schedule) => ({
      text: `The last job of schedule ${nameOf(schedule)} failed.`,
      owner: null,
      place: { at: 'schedule', scheduleId: schedule.id },
    }));
}

export function nameOf({ name, definitionKey }: ScheduleView): string {
  return name ?? definitionKey;
}

function byDefinition(jobs: readonly JobView[]) {
  const groups = Map.groupBy(jobs, ({ definitionKey }) => definitionKey);
  return [...groups].flatMap(([key, all]) => {
    const [first] = all;
    return first ? [{ key, jobs: all, first }] : [];
  });
}

function msSince(at: string, now: Date): number {
  return now.getTime() - Date.parse(at);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function count(number: number, word: string): string {
  return number === 1 ? `1 ${word}` : `${number} ${word}s`;
}
