import { newestVersions, ownerOf, ownersOf } from '../definition/owners.ts';
import { causeWords } from '../failure/failure-words.ts';
import { limitsLine } from '../queue/limit-words.ts';
import { limitReason, reachedLimit } from './reached-limit.ts';
import { pauseOf, pauseWords } from '../queue/pause-words.ts';
import type { HeldJob, WorkerView } from '../queue/worker.ts';
import type { ScheduleView } from '../schedule/schedule.ts';
import type { HeldBackJobs } from '../views/key-view.ts';
import { unknownDefinition, unknownWords } from '../schedule/unknown-definition.ts';
import { duration, timeSince, wholeSeconds } from '../values/duration.ts';
import { alertProblems } from './alert-problems.ts';
import { slowdownWords } from './slowdown.ts';
import {
  count,
  heldJobs,
  msSince,
  oldestSince,
  ownTenant,
  pendingOf,
  type Problem,
  type Seen,
  waits,
} from './problem.ts';
import { isOperators } from './problem.ts';
import { failingWebhooks } from './webhook-problems.ts';
import { isAlive, lostWorkers, unloadedFiles, withoutWorkers } from './worker-problems.ts';

/**
 * The problems of the server, worst first, one function per rule and one line per problem:
 * how many jobs it hits, and the root cause. Backlogs come from the server's counters and its alerts,
 * so a long backlog hides nothing.
 */
const LONG_WAIT_MS = 5 * 60_000;
const OVERDUE_MS = 60_000;
const FAILURES_SHOWN = 5;
const NEAR_TIMEOUT = 0.8;

export function problemsOf(seen: Seen, now: Date): Problem[] {
  const none = withoutWorkers(seen, now);
  const workers = none.length > 0 ? none : lostWorkers(seen, now);
  const covered = new Set(workers.flatMap(({ covers = [] }) => covers));
  const own = [
    ...workers,
    ...lostJobs(seen, now),
    ...slowJobs(seen, now),
    ...unloadedFiles(seen),
    ...pauses(seen, now),
    ...(none.length > 0 ? [] : waitingJobs(seen, covered, now)),
    ...failures(seen, now),
    ...lateSchedules(seen, now),
    ...failedSchedules(seen),
    ...unknownSchedules(seen),
    ...failingWebhooks(seen, now),
    ...pausedSchedules(seen, now),
  ];
  return [...own, ...alertProblems(seen, own), ...otherTenants(seen)];
}

function waitingJobs(seen: Seen, covered: ReadonlySet<string>, now: Date): Problem[] {
  const left = (key: string) => !covered.has(key);
  return [
    ...unserved(seen, left),
    ...unloaded(seen).filter(({ about }) => about === null || left(about)),
    ...longWaits(seen, left, now),
  ];
}

/** Jobs whose worker is no longer listed; those of a silent worker are in its line. */
function lostJobs({ running, workers }: Seen, now: Date): Problem[] {
  const known = new Set(workers.map(({ workerId }) => workerId));
  const lost = running.filter(
    ({ leaseExpiresAt, workerId }) =>
      leaseExpiresAt !== null &&
      msSince(leaseExpiresAt, now) > 0 &&
      (workerId === null || !known.has(workerId)),
  );
  return byDefinition(lost).map(([key, [first, ...more]]) => ({
    kind: 'stuck',
    about: key,
    text: `${count(more.length + 1, 'job')} stranded: the lease of the worker expired ${timeSince(first.leaseExpiresAt ?? '', now)} ago.`,
    owner: first.owner,
    target: { at: 'job', jobId: first.jobId },
    alerts: [{ rule: 'stuck', about: key }],
  }));
}

/** Running jobs that have used most of their timeout. */
function slowJobs(seen: Seen, now: Date): Problem[] {
  const { definitions } = seen;
  const owners = ownersOf(definitions);
  const limits = new Map(
    definitions.map(({ key, version, timeoutSeconds }) => [`${key}@${version}`, timeoutSeconds]),
  );
  const limitMs = ({ definitionKey, definitionVersion }: HeldJob) =>
    (limits.get(`${definitionKey}@${definitionVersion}`) ?? Infinity) * 1_000;
  const ranMs = ({ startedAt }: HeldJob) => msSince(startedAt, now);
  const slow = heldJobs(seen)
    .filter((job) => ranMs(job) >= limitMs(job) * NEAR_TIMEOUT)
    .toSorted((a, b) => ranMs(b) - ranMs(a));
  return byDefinition(slow).map(([key, [first, ...more]]) => {
    const upTo = more.length === 0 ? '' : 'up to ';
    const whose = more.length === 0 ? 'its' : 'their';
    const jobs = count(more.length + 1, 'job');
    return {
      kind: 'stuck',
      about: key,
      text: `${jobs} stuck: ${timeUsed(ranMs(first), limitMs(first), upTo, whose)}`,
      owner: ownerOf(owners, key),
      target: { at: 'job', jobId: first.jobId },
      alerts: [{ rule: 'stuck', about: key }],
    };
  });
}

function timeUsed(ranMs: number, limitMs: number, upTo: string, whose: string): string {
  const limit = `${whose} ${duration(limitMs)} timeout.`;
  return ranMs > limitMs
    ? `${upTo}${wholeSeconds(ranMs - limitMs)} past ${limit}`
    : `running ${upTo}${wholeSeconds(ranMs)} of ${limit}`;
}

function byDefinition<T extends { definitionKey: string }>(
  jobs: readonly T[],
): [key: string, jobs: [T, ...T[]]][] {
  const groups = Map.groupBy(jobs, ({ definitionKey }) => definitionKey);
  return [...groups].flatMap(([key, [first, ...more]]) => (first ? [[key, [first, ...more]]] : []));
}

function pauses(seen: Seen, now: Date): Problem[] {
  const { definitions } = seen;
  const all = seen.pauses.filter((pause) => !isOfOthers(seen, pause));
  const owners = ownersOf(definitions);
  return all.map((pause) => {
    const { scope, name } = pause;
    const isOther = scope === 'tenant' && name !== null && name !== ownTenant(seen.tenant);
    const words = pauseWords(pause, now).replace(/\.?$/, '.');
    const held = isOther ? heldIn(seen, name) : queuedUnder(seen, pause);
    const isDefinition = scope === 'definition' && name !== null;
    const jobs = { at: 'jobs' as const, status: ['queued' as const] };
    return {
      kind: 'paused',
      about: null,
      text: held === null ? words : `${held}: ${words}`,
      owner: isDefinition ? (owners.get(name) ?? null) : null,
      target: isDefinition
        ? { at: 'definition', key: name }
        : { ...jobs, ...(isOther && { tenant: name }) },
    };
  });
}

/** What a pause holds back of the tenant that is looked at; null if nothing. */
function queuedUnder({ stats }: Seen, { scope, name }: Seen['pauses'][number]): string | null {
  const held = stats.definitions.filter(({ key }) => scope !== 'definition' || key === name);
  const jobs = held.reduce((sum, { depth }) => sum + depth, 0);
  return jobs === 0 ? null : `${count(jobs, 'job')} ${waits(jobs)}`;
}

/** What waits in another tenant; null if nothing does, or if it is not known. */
function heldIn({ tenants = [] }: Seen, name: string): string | null {
  const jobs = tenants.find(({ tenant }) => tenant === name)?.heldBackJobs ?? null;
  return jobs === null || jobs.count === 0 ? null : jobsWait(jobs);
}

/** A pause that holds back no jobs of the tenant; the default tenant sees all. */
function isOfOthers({ tenant, stats }: Seen, { scope, name }: Seen['pauses'][number]): boolean {
  if (isOperators(tenant) || scope === 'all') return false;
  if (scope === 'tenant') return name !== ownTenant(tenant);
  return stats.definitions.every(({ key }) => key !== name);
}

function unserved({ stats, definitions }: Seen, left: (key: string) => boolean): Problem[] {
  const owners = ownersOf(definitions);
  return stats.definitions.flatMap(({ key, unserved: waiting }) => {
    if (waiting === null || !left(key)) return [];
    const { depth, oldestJobId } = waiting;
    return {
      kind: 'waiting',
      about: key,
      text: `${count(depth, 'job')} ${waits(depth)}: no worker has this definition.`,
      owner: owners.get(key) ?? null,
      target: { at: 'job' as const, jobId: oldestJobId },
      alerts: [{ rule: 'unserved' as const, about: key }],
    };
  });
}

/** Definitions with upcoming jobs, but no worker that could run them. */
function unloaded({ definitions, workers, stats, schedules }: Seen): Problem[] {
  const loaded = new Set(workers.filter(isAlive).flatMap((worker) => worker.definitions));
  const pending = pendingOf({ stats, schedules });
  const unservedKeys = stats.definitions.flatMap(({ key, unserved: one }) => (one ? [key] : []));
  return newestVersions([...definitions])
    .filter(({ key, version }) => !loaded.has(`${key}@${version}`))
    .filter(({ key }) => pending.has(key) && !unservedKeys.includes(key))
    .map(({ key, owner }) => ({
      kind: 'waiting',
      about: key,
      text: 'The next jobs will wait: no worker has this definition.',
      owner,
      target: { at: 'definition', key },
    }));
}

function longWaits(seen: Seen, left: (key: string) => boolean, now: Date): Problem[] {
  const { stats, definitions, pauses: all } = seen;
  const owners = ownersOf(definitions);
  const names = (key: string) => ({ all: null, definition: key, tenant: ownTenant(seen.tenant) });
  const isPaused = (key: string) => all.some(({ scope, name }) => name === names(key)[scope]);
  return stats.definitions.flatMap((one): Problem[] => {
    const { key, oldestJobId, depth } = one;
    const since = oldestSince(stats.at, one);
    if (since === null || oldestJobId === null || one.unserved !== null || isPaused(key)) return [];
    if (msSince(since, now) < LONG_WAIT_MS || !left(key)) return [];
    const jobs = Math.max(1, depth);
    const oldest = jobs === 1 ? 'for' : 'the oldest for';
    const slower = slowdownWords(one, heldJobs(seen), now);
    return [
      {
        kind: 'waiting',
        about: key,
        text: `${count(jobs, 'job')} ${waits(jobs)}, ${oldest} ${timeSince(since, now)}${slower ?? ''}${whyWaiting(seen, key)}.`,
        owner: owners.get(key) ?? null,
        // What became slow is seen on the page of the definition, not on a job that waits for it.
        target: slower === null ? { at: 'job', jobId: oldestJobId } : { at: 'definition', key },
        alerts: [{ rule: 'oldest-age', about: key }],
      },
    ];
  });
}

/** A reached limit, full workers, or a limit that may hold. */
function whyWaiting(seen: Seen, key: string): string {
  const { workers, definitions } = seen;
  const reached = reachedLimit(key, seen);
  if (reached !== null) return `: ${limitReason(reached)}`;
  const able = workers.filter(
    (worker) => isAlive(worker) && worker.definitions.some((name) => name.startsWith(`${key}@`)),
  );
  const slots = able.reduce((sum, worker) => sum + worker.slots, 0);
  const isFull = able.every(({ busy, slots: own }) => busy >= own);
  if (able.length > 0 && isFull) {
    return `: all ${count(slots, 'slot')} of its workers are busy${ownShare(seen, key, able)}`;
  }
  const limits = newestVersions([...definitions]).find((one) => one.key === key)?.limits.effective;
  const words = limits ? limitsLine(limits) : '';
  return words === '' ? '' : `; it is limited: ${words}`;
}

/** How many of the busy slots run the definition itself. */
function ownShare({ tenant }: Seen, key: string, able: readonly WorkerView[]): string {
  const held = heldJobs({ workers: able, tenant });
  const own = held.filter(({ definitionKey }) => definitionKey === key).length;
  return own === 0 ? '' : `, ${own} with ${key}`;
}

function failures({ failures: groups, definitions, schedules }: Seen, now: Date): Problem[] {
  const owners = ownersOf(definitions);
  const shown = groups.slice(0, FAILURES_SHOWN).map((group): Problem => {
    const { definitionKeys, count: times, countIsExact, fingerprint, jobId, code } = group;
    const { firstSeen, lastSeen } = group;
    const ago = `${timeSince(firstSeen, now)} ago`;
    const since = times === 1 || firstSeen === lastSeen ? ago : `the first ${ago}`;
    const often = `${times.toLocaleString('en')}${countIsExact ? '' : '+'}`;
    const found = definitionKeys.flatMap((key) => owners.get(key) ?? []);
    const names = schedules
      .filter((one) => hasFailed(one) && definitionKeys.includes(one.definitionKey))
      .map(nameOf);
    const by = names.length === 0 ? '' : `; schedule ${names.join(', ')}`;
    return {
      kind: 'failed',
      about: definitionKeys.join(', '),
      text: `${often} failed, ${since}: ${causeWords(group)}${by}`,
      owner: found.length === 0 ? null : [...new Set(found)].join(', '),
      // A single job is more useful than a list of one.
      target: times === 1 ? { at: 'job', jobId } : { at: 'dead-letters', fingerprint },
      code,
    };
  });
  const more = groups.length - FAILURES_SHOWN;
  if (more <= 0) return shown;
  const text = `${count(more, 'more error')}.`;
  const target = { at: 'dead-letters', fingerprint: null } as const;
  return [...shown, { kind: 'failed', about: null, text, owner: null, target }];
}

function lateSchedules({ schedules, definitions }: Seen, now: Date): Problem[] {
  const owners = ownersOf(definitions);
  return schedules
    .filter(
      ({ enabled, nextAt }) => enabled && nextAt !== null && msSince(nextAt, now) > OVERDUE_MS,
    )
    .map((schedule) => ({
      kind: 'schedule',
      about: null,
      text: `Schedule ${nameOf(schedule)} is overdue by ${timeSince(schedule.nextAt ?? '', now)}: is a scheduler running?`,
      owner: owners.get(schedule.definitionKey) ?? null,
      target: { at: 'schedule', scheduleId: schedule.id },
      alerts: [{ rule: 'schedule-missed', about: schedule.id }],
    }));
}

/** Unless the failures of the definition are listed: they have the same cause. */
function failedSchedules({ schedules, definitions, failures: groups }: Seen): Problem[] {
  const owners = ownersOf(definitions);
  const told = new Set(groups.slice(0, FAILURES_SHOWN).flatMap((one) => one.definitionKeys));
  return schedules
    .filter((one) => hasFailed(one) && !told.has(one.definitionKey))
    .map((schedule) => ({
      kind: 'schedule',
      about: null,
      text: `The last job of schedule ${nameOf(schedule)} failed.`,
      owner: owners.get(schedule.definitionKey) ?? null,
      target: { at: 'schedule', scheduleId: schedule.id },
    }));
}

/** Unless jobs of the definition wait already: their line has the same cause. */
function unknownSchedules(seen: Seen): Problem[] {
  if (seen.definitions.length === 0) return [];
  const told = new Set(seen.stats.definitions.flatMap((one) => (one.unserved ? [one.key] : [])));
  return seen.schedules.flatMap((schedule): Problem[] => {
    const { enabled, nextAt, definitionKey, id } = schedule;
    if (!enabled || nextAt === null || told.has(definitionKey)) return [];
    const unknown = unknownDefinition(definitionKey, seen);
    if (unknown === null) return [];
    const text = `Jobs of schedule ${nameOf(schedule)} will wait. ${unknownWords(definitionKey, unknown)}`;
    const target = { at: 'schedule', scheduleId: id } as const;
    return [{ kind: 'schedule', about: null, text, owner: null, target }];
  });
}

/** Paused by a person; one that the code no longer has is not a problem. */
function pausedSchedules({ schedules, definitions }: Seen, now: Date): Problem[] {
  const owners = ownersOf(definitions);
  return schedules
    .filter(({ enabled, paused }) => !enabled && paused !== null && paused.by !== null)
    .map((schedule) => ({
      kind: 'paused',
      about: null,
      text: pauseWords(pauseOf(schedule), now).replace(/\.?$/, '.'),
      owner: owners.get(schedule.definitionKey) ?? null,
      target: { at: 'schedule', scheduleId: schedule.id },
    }));
}

/** One line for each other tenant with failed jobs, firing alerts, or a limit that holds jobs back: its own list has the rest. */
function otherTenants({ tenants = [], tenant }: Seen): Problem[] {
  return tenants
    .filter((one) => one.tenant !== tenant?.tenant)
    .flatMap(
      ({
        tenant: name,
        firingAlerts,
        failedJobs,
        concurrencyLimit,
        heldBackMs,
        heldBackJobs,
        paused,
      }) => {
        // The line of its pause says what waits.
        const isHeldBack = paused === null && (heldBackMs ?? 0) >= LONG_WAIT_MS;
        const facts = [
          ...(isHeldBack
            ? [
                `${heldBackWords(heldBackJobs)} ${duration(heldBackMs ?? 0)}: it may run ${count(concurrencyLimit ?? 0, 'job')} at a time`,
              ]
            : []),
          ...(failedJobs > 0 ? [`${count(failedJobs, 'job')} failed in the last day`] : []),
          ...(firingAlerts > 0 ? [count(firingAlerts, 'firing alert')] : []),
        ];
        const text = `Tenant ${name}: ${facts.join('; ')}.`;
        const target = { at: isHeldBack ? 'tenant-limit' : 'tenant', name } as const;
        return facts.length === 0
          ? []
          : [{ kind: 'tenant', about: null, text, owner: null, target }];
      },
    );
}

function heldBackWords(jobs: HeldBackJobs | null): string {
  if (jobs === null) return 'jobs wait for';
  return jobs.isExact && jobs.count === 1 ? '1 job waits for' : `${jobsWait(jobs)}, the oldest for`;
}

function jobsWait({ count: number, isExact }: HeldBackJobs): string {
  if (!isExact) return `${number.toLocaleString('en')}+ jobs wait`;
  return `${count(number, 'job')} ${waits(number)}`;
}

function hasFailed({ enabled, lastSlot }: ScheduleView): boolean {
  return enabled && lastSlot?.jobStatus === 'failed';
}

export function nameOf({ name, definitionKey }: ScheduleView): string {
  return name ?? definitionKey;
}
