import type { DeadLetterGroup } from '../../../src/core/dead-letter.ts';
import { duration } from '../../../src/core/duration.ts';
import type { JobView } from '../../../src/core/job.ts';
import type { ScheduleView } from '../../../src/core/schedule.ts';
import type { WorkerView } from '../../../src/core/worker.ts';
import { timeSince, wholeSeconds } from './moment.ts';
import { ownersOf } from './owners.ts';
import { pauseWords } from './pause-words.ts';
import type { Place } from './place.ts';
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

/** The newest failures, the oldest that wait, and what runs: pages of the API, not everything. */
export interface Seen extends World {
  /** Of the last day, by what went wrong. */
  failures: readonly DeadLetterGroup[];
  queued: readonly JobView[];
  running: readonly JobView[];
  schedules: readonly ScheduleView[];
  /** How many jobs of each definition could run now; empty where nobody counts them. */
  depths: readonly { key: string; depth: number }[];
}

const LONG_WAIT_MS = 5 * 60_000;
const OVERDUE_MS = 60_000;
const FAILURES_TOLD = 5;
const LOST_TOLD_MS = 60 * 60_000;
const NEAR_TIMEOUT = 0.8;

export function troubles(seen: Seen, now: Date): Trouble[] {
  return [
    ...noWorker(seen),
    ...lostWorkers(seen, now),
    ...lostJobs(seen, now),
    ...slowJobs(seen, now),
    ...pauses(seen, now),
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

function lostWorkers({ workers, definitions }: Seen, now: Date): Trouble[] {
  const owners = ownersOf(definitions);
  return workers
    .filter(({ status, lost, heartbeatAt, leaseExpiresAt }) =>
      status === 'dead'
        ? lost && msSince(heartbeatAt, now) < LOST_TOLD_MS
        : msSince(leaseExpiresAt, now) > 0,
    )
    .map((worker) => {
      const { status, host, pid, heartbeatAt } = worker;
      const died = status === 'dead' ? 'has died; it ' : '';
      const hit = [...new Set(onlyThere(worker, workers).flatMap((key) => owners.get(key) ?? []))];
      return {
        text: `Worker ${host} (pid ${pid}) ${died}was last heard of ${ago(heartbeatAt, now)}.`,
        owner: hit.length === 0 ? null : hit.join(', '),
        place: { at: 'workers' },
      };
    });
}

/** The definitions that nobody else can run: theirs are who must know. */
function onlyThere(
  { definitions, workerId }: WorkerView,
  workers: readonly WorkerView[],
): string[] {
  const others = workers.filter((other) => other.status !== 'dead' && other.workerId !== workerId);
  const served = new Set(others.flatMap((other) => other.definitions));
  return definitions.filter((name) => !served.has(name)).map((name) => name.replace(/@\d+$/, ''));
}

function lostJobs({ running }: Seen, now: Date): Trouble[] {
  return running
    .filter(({ leaseExpiresAt }) => leaseExpiresAt !== null && msSince(leaseExpiresAt, now) > 0)
    .map(({ jobId, definitionKey, owner, leaseExpiresAt }) => ({
      text: `A job of ${definitionKey} has lost its worker ${timeSince(leaseExpiresAt ?? '', now)} ago.`,
      owner,
      place: { at: 'job', jobId },
    }));
}

/** The rule of "is it stuck": it has used most of the time that it may take. */
function slowJobs({ running, definitions }: Seen, now: Date): Trouble[] {
  return running.flatMap(({ jobId, definitionKey, definitionVersion, owner, startedAt }) => {
    const definition = definitions.find(
      ({ key, version }) => key === definitionKey && version === definitionVersion,
    );
    if (!definition || startedAt === null) return [];
    const ranMs = msSince(startedAt, now);
    const mostMs = definition.timeoutSeconds * 1_000;
    if (ranMs < mostMs * NEAR_TIMEOUT) return [];
    const text = `A job of ${definitionKey} seems stuck: it has run for ${wholeSeconds(ranMs)} of ${duration(mostMs)} that it may take.`;
    return [{ text, owner, place: { at: 'job', jobId } }];
  });
}

/** Somebody meant it, and somebody else wonders why nothing moves. */
function pauses({ pauses: all, definitions, queued, depths }: Seen, now: Date): Trouble[] {
  const owners = ownersOf(definitions);
  return all.map((pause) => {
    const { scope, name } = pause;
    const isMeant = (key: string) => scope !== 'definition' || key === name;
    const waits = queued.some(({ definitionKey }) => isMeant(definitionKey));
    const more = waits ? ` ${backlog(sumOf(depths.filter(({ key }) => isMeant(key))))}` : '';
    const words = pauseWords(pause, now).replace(/\.?$/, '.');
    const isDefinition = scope === 'definition' && name !== null;
    return {
      text: `${words}${more}`,
      owner: isDefinition ? (owners.get(name) ?? null) : null,
      place: isDefinition ? { at: 'definition', key: name } : { at: 'jobs', status: ['queued'] },
    };
  });
}

/** What was counted a moment ago may not know of a job that is there by now. */
function backlog(jobs: number): string {
  if (jobs === 0) return 'Jobs wait for it.';
  return jobs === 1 ? '1 job waits for it.' : `${jobs.toLocaleString('en')} jobs wait for it.`;
}

function sumOf(depths: readonly { depth: number }[]): number {
  return depths.reduce((sum, { depth }) => sum + depth, 0);
}

function unhandled({ queued }: Seen): Trouble[] {
  const odd = queued.filter(({ warnings }) => warnings.some(({ code }) => code === 'UNHANDLED'));
  return byDefinition(odd).map(({ key, jobs, first }) => ({
    text: `${count(jobs.length, 'job')} of ${key} ${jobs.length === 1 ? 'waits' : 'wait'}, and no worker has this definition.`,
    owner: first.owner,
    place: { at: 'job', jobId: first.jobId },
  }));
}

function longWaits({ queued, pauses: all }: Seen, now: Date): Trouble[] {
  const stopped = all.map(({ name }) => name);
  const late = queued.filter(
    ({ definitionKey, warnings, queuedAt }) =>
      !stopped.includes(null) &&
      !stopped.includes(definitionKey) &&
      warnings.length === 0 &&
      queuedAt !== null &&
      msSince(queuedAt, now) > LONG_WAIT_MS,
  );
  return byDefinition(late).map(({ key, first }) => ({
    text: `Jobs of ${key} wait: the oldest for ${timeSince(first.queuedAt ?? '', now)}.`,
    owner: first.owner,
    place: { at: 'job', jobId: first.jobId },
  }));
}

function failures({ failures: groups, definitions }: Seen): Trouble[] {
  const owners = ownersOf(definitions);
  const told = groups.slice(0, FAILURES_TOLD).map((group): Trouble => {
    const { definitionKeys, code, message, count: times, countIsExact } = group;
    const { fingerprint, jobId } = group;
    const often =
      times === 1 ? '' : ` ${times.toLocaleString('en')}${countIsExact ? '' : '+'} times`;
    const found = definitionKeys.flatMap((key) => owners.get(key) ?? []);
    return {
      text: `${definitionKeys.join(', ')} failed${often}: ${code} ${firstLine(message)}`,
      owner: found.length === 0 ? null : [...new Set(found)].join(', '),
      // One job has more to say than a list of one.
      place: times === 1 ? { at: 'job', jobId } : { at: 'dead-letters', fingerprint },
    };
  });
  const more = groups.length - FAILURES_TOLD;
  if (more <= 0) return told;
  const text = `And ${count(more, 'other kind')} of failures.`;
  return [...told, { text, owner: null, place: { at: 'dead-letters', fingerprint: null } }];
}

function lateSchedules({ schedules }: Seen, now: Date): Trouble[] {
  return schedules
    .filter(
      ({ enabled, nextAt }) => enabled && nextAt !== null && msSince(nextAt, now) > OVERDUE_MS,
    )
    .map((schedule) => ({
      text: `Schedule ${nameOf(schedule)} is overdue by ${timeSince(schedule.nextAt ?? '', now)}: does a scheduler run?`,
      owner: null,
      place: { at: 'schedule', scheduleId: schedule.id },
    }));
}

function failedSchedules({ schedules, definitions }: Seen): Trouble[] {
  const owners = ownersOf(definitions);
  return schedules
    .filter(({ enabled, lastSlot }) => enabled && lastSlot?.jobStatus === 'failed')
    .map((schedule) => ({
      text: `The last job of schedule ${nameOf(schedule)} failed.`,
      owner: owners.get(schedule.definitionKey) ?? null,
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

function ago(at: string, now: Date): string {
  return `${timeSince(at, now)} ago`;
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
