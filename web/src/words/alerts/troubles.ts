import { duration } from '../../../../src/core/values/duration.ts';
import type { ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import { alertTroubles } from './alert-troubles.ts';
import { newestVersions } from '../queues/definition-words.ts';
import { timeSince, wholeSeconds } from '../moment.ts';
import { ownersOf } from './owners.ts';
import { pauseWords } from '../queues/pause-words.ts';
import { msSince, oldestSince, pendingOf, type Seen, type Trouble } from '../seen.ts';
import { deadWorkers } from './worker-troubles.ts';

/**
 * Problems for the top of the overview, worst first, one function per rule. Backlogs come from the
 * server's counters and its alerts, so a long backlog hides nothing.
 */
const LONG_WAIT_MS = 5 * 60_000;
const OVERDUE_MS = 60_000;
const FAILURES_SHOWN = 5;
const NEAR_TIMEOUT = 0.8;

export function troubles(seen: Seen, now: Date): Trouble[] {
  const own = [
    ...noWorker(seen),
    ...deadWorkers(seen, now),
    ...lostJobs(seen, now),
    ...slowJobs(seen, now),
    ...pauses(seen, now),
    ...unserved(seen),
    ...unloaded(seen),
    ...longWaits(seen, now),
    ...failures(seen),
    ...lateSchedules(seen, now),
    ...failedSchedules(seen),
  ];
  return [...own, ...alertTroubles(seen, own)];
}

function noWorker({ workers, definitions, stats }: Seen): Trouble[] {
  const alive = workers.some(({ status }) => status !== 'dead');
  const hasJobs = stats.definitions.some(({ depth }) => depth > 0);
  if (alive || (definitions.length === 0 && !hasJobs)) return [];
  return [{ text: 'No live worker: no job can run.', owner: null, target: { at: 'workers' } }];
}

function lostJobs({ running }: Seen, now: Date): Trouble[] {
  return running
    .filter(({ leaseExpiresAt }) => leaseExpiresAt !== null && msSince(leaseExpiresAt, now) > 0)
    .map(({ jobId, definitionKey, owner, leaseExpiresAt }) => ({
      text: `A job of ${definitionKey} lost its worker ${timeSince(leaseExpiresAt ?? '', now)} ago.`,
      owner,
      target: { at: 'job', jobId },
      alert: { rule: 'stuck', about: definitionKey },
    }));
}

/** Running jobs that have used most of their timeout. */
function slowJobs({ running, definitions }: Seen, now: Date): Trouble[] {
  return running.flatMap(({ jobId, definitionKey, definitionVersion, owner, startedAt }) => {
    const definition = definitions.find(
      ({ key, version }) => key === definitionKey && version === definitionVersion,
    );
    if (!definition || startedAt === null) return [];
    const ranMs = msSince(startedAt, now);
    const mostMs = definition.timeoutSeconds * 1_000;
    if (ranMs < mostMs * NEAR_TIMEOUT) return [];
    const text = `A job of ${definitionKey} seems stuck: running ${wholeSeconds(ranMs)} of its ${duration(mostMs)} timeout.`;
    const alert = { rule: 'stuck' as const, about: definitionKey };
    return [{ text, owner, target: { at: 'job', jobId }, alert }];
  });
}

function pauses({ pauses: all, definitions, stats }: Seen, now: Date): Trouble[] {
  const owners = ownersOf(definitions);
  return all.map((pause) => {
    const { scope, name } = pause;
    const held = stats.definitions.filter(({ key }) => scope !== 'definition' || key === name);
    const jobs = held.reduce((sum, { depth }) => sum + depth, 0);
    const words = pauseWords(pause, now).replace(/\.?$/, '.');
    const isDefinition = scope === 'definition' && name !== null;
    return {
      text: jobs === 0 ? words : `${words} ${count(jobs, 'job')} ${jobs === 1 ? 'waits' : 'wait'}.`,
      owner: isDefinition ? (owners.get(name) ?? null) : null,
      target: isDefinition ? { at: 'definition', key: name } : { at: 'jobs', status: ['queued'] },
    };
  });
}

function unserved({ stats, definitions }: Seen): Trouble[] {
  const owners = ownersOf(definitions);
  return stats.definitions.flatMap(({ key, unserved: stranded }) => {
    if (stranded === null) return [];
    const { depth, oldestJobId } = stranded;
    return {
      text: `${count(depth, 'job')} of ${key} ${depth === 1 ? 'waits' : 'wait'}, but no worker has this definition.`,
      owner: owners.get(key) ?? null,
      target: { at: 'job' as const, jobId: oldestJobId },
      alert: { rule: 'no-worker' as const, about: key },
    };
  });
}

/** Definitions with upcoming jobs, but no worker that could run them. */
function unloaded({ definitions, workers, stats, schedules }: Seen): Trouble[] {
  const alive = workers.filter(({ status }) => status !== 'dead');
  if (alive.length === 0) return [];
  const loaded = new Set(alive.flatMap((worker) => worker.definitions));
  const pending = pendingOf({ stats, schedules });
  const stranded = stats.definitions.flatMap(({ key, unserved: one }) => (one ? [key] : []));
  return newestVersions([...definitions])
    .filter(({ key, version }) => !loaded.has(`${key}@${version}`))
    .filter(({ key }) => pending.has(key) && !stranded.includes(key))
    .map(({ key, owner }) => ({
      text: `No worker has ${key} loaded: its next jobs will wait.`,
      owner,
      target: { at: 'definition', key },
    }));
}

function longWaits({ stats, definitions, pauses: all }: Seen, now: Date): Trouble[] {
  const owners = ownersOf(definitions);
  const isPaused = (key: string) =>
    all.some(({ scope, name }) => scope !== 'definition' || name === key);
  return stats.definitions.flatMap((one) => {
    const { key, oldestJobId } = one;
    const since = oldestSince(stats.at, one);
    if (since === null || oldestJobId === null || one.unserved !== null || isPaused(key)) return [];
    if (msSince(since, now) < LONG_WAIT_MS) return [];
    return {
      text: `Jobs of ${key} are waiting, the oldest for ${timeSince(since, now)}.`,
      owner: owners.get(key) ?? null,
      target: { at: 'job' as const, jobId: oldestJobId },
      alert: { rule: 'oldest-age' as const, about: key },
    };
  });
}

function failures({ failures: groups, definitions }: Seen): Trouble[] {
  const owners = ownersOf(definitions);
  const shown = groups.slice(0, FAILURES_SHOWN).map((group): Trouble => {
    const { definitionKeys, code, message, count: times, countIsExact } = group;
    const { fingerprint, jobId } = group;
    const often =
      times === 1 ? '' : ` ${times.toLocaleString('en')}${countIsExact ? '' : '+'} times`;
    const found = definitionKeys.flatMap((key) => owners.get(key) ?? []);
    return {
      text: `${definitionKeys.join(', ')} failed${often}: ${code} ${firstLine(message)}`,
      owner: found.length === 0 ? null : [...new Set(found)].join(', '),
      // A single job is more useful than a list of one.
      target: times === 1 ? { at: 'job', jobId } : { at: 'dead-letters', fingerprint },
    };
  });
  const more = groups.length - FAILURES_SHOWN;
  if (more <= 0) return shown;
  const text = `${count(more, 'more error')}.`;
  return [...shown, { text, owner: null, target: { at: 'dead-letters', fingerprint: null } }];
}

function lateSchedules({ schedules }: Seen, now: Date): Trouble[] {
  return schedules
    .filter(
      ({ enabled, nextAt }) => enabled && nextAt !== null && msSince(nextAt, now) > OVERDUE_MS,
    )
    .map((schedule) => ({
      text: `Schedule ${nameOf(schedule)} is overdue by ${timeSince(schedule.nextAt ?? '', now)}: is a scheduler running?`,
      owner: null,
      target: { at: 'schedule', scheduleId: schedule.id },
      alert: { rule: 'schedule-missed', about: schedule.id },
    }));
}

function failedSchedules({ schedules, definitions }: Seen): Trouble[] {
  const owners = ownersOf(definitions);
  return schedules
    .filter(({ enabled, lastSlot }) => enabled && lastSlot?.jobStatus === 'failed')
    .map((schedule) => ({
      text: `The last job of schedule ${nameOf(schedule)} failed.`,
      owner: owners.get(schedule.definitionKey) ?? null,
      target: { at: 'schedule', scheduleId: schedule.id },
    }));
}

export function nameOf({ name, definitionKey }: ScheduleView): string {
  return name ?? definitionKey;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function count(number: number, word: string): string {
  return number === 1 ? `1 ${word}` : `${number.toLocaleString('en')} ${word}s`;
}
