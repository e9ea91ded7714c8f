import { deathWords, type HeldJob, type WorkerView } from '../queue/worker.ts';
import { timeSince } from '../values/duration.ts';
import {
  count,
  isOperators,
  msSince,
  ownTenant,
  pendingOf,
  type Seen,
  type Problem,
  waits,
} from './problem.ts';
import { ownerOf, ownersOf } from '../definition/owners.ts';

/** A dead worker is listed this long; after that only while jobs wait for it. */
const DEATH_SHOWN_MS = 60 * 60_000;

const FILES_SHOWN = 3;

/** Without any live worker, everything that waits has the same cause. */
export function withoutWorkers({ workers, definitions, stats }: Seen, now: Date): Problem[] {
  const jobs = stats.definitions.reduce((sum, { depth }) => sum + depth, 0);
  if (workers.some(isAlive) || (definitions.length === 0 && jobs === 0)) return [];
  const [last] = newestFirst(workers.filter(({ lost }) => lost));
  const ago = last ? timeSince(last.heartbeatAt, now) : '';
  const died = last ? ` ${nameOf(last)} ${deathWords(last, ago) ?? `died ${ago} ago`}.` : '';
  const impact = jobs === 0 ? 'no job can run' : `${count(jobs, 'job')} ${waits(jobs)}`;
  return [
    {
      kind: 'worker',
      about: null,
      text: `No live worker: ${impact}.${died}`,
      owner: null,
      target: { at: 'workers' },
      alerts: stats.definitions.map(({ key }) => ({ rule: 'unserved', about: key })),
    },
  ];
}

/** Each dead or silent worker, with the jobs that are stranded by it. */
export function lostWorkers(seen: Seen, now: Date): Problem[] {
  const { workers } = seen;
  const told = new Set<string>();
  return newestFirst(workers).flatMap((worker) => {
    if (worker.status !== 'dead') {
      if (msSince(worker.leaseExpiresAt, now) <= 0) return [];
      return silent(seen, worker, now);
    }
    const keys = onlyThere(worker, workers).filter((key) => !told.has(key));
    const trouble = dead(seen, worker, keys, now);
    if (trouble.length > 0) for (const key of keys) told.add(key);
    return trouble;
  });
}

function silent(seen: Seen, worker: WorkerView, now: Date): Problem[] {
  const since = `is silent; last heartbeat ${timeSince(worker.heartbeatAt, now)} ago`;
  const held = worker.jobs.length;
  const text =
    held > 0
      ? `${count(held, 'job')} stranded: worker ${nameOf(worker, '')} ${since}.`
      : `${nameOf(worker)} ${since}.`;
  return [{ ...ofHeld(seen, worker.jobs), text }];
}

function dead(seen: Seen, worker: WorkerView, keys: readonly string[], now: Date): Problem[] {
  const held = worker.jobs;
  const pending = pendingOf(seen);
  const missed = keys.filter((key) => pending.has(key));
  const isRecent = isOperators(seen.tenant) && msSince(worker.heartbeatAt, now) < DEATH_SHOWN_MS;
  if (!worker.lost || (!isRecent && missed.length + held.length === 0)) return [];
  const waiting = seen.stats.definitions.filter(({ key }) => missed.includes(key));
  const jobs = waiting.reduce((sum, { unserved, depth }) => sum + (unserved?.depth ?? depth), 0);
  const ago = timeSince(worker.heartbeatAt, now);
  const died = deathWords(worker, ago) ?? `died ${ago} ago (killed, crashed or cut off)`;
  if (jobs === 0 && held.length > 0) return strands(seen, worker, died);
  const names = missed.join(', ');
  const owners = ownersOf(seen.definitions);
  const hit = [...new Set(keys.flatMap((key) => owners.get(key) ?? []))];
  const text =
    jobs > 0
      ? `${count(jobs, 'job')} stranded: worker ${nameOf(worker, '')} ${died}, and no other worker has ${names}.`
      : `${nameOf(worker)} ${died}: ${missed.length === 0 ? 'no job waits for it' : `the next jobs of ${names} will wait`}.`;
  const jobId = waiting.find(({ unserved }) => unserved !== null)?.unserved?.oldestJobId;
  return [
    {
      kind: 'worker',
      about: jobs > 0 ? names : null,
      text,
      owner: hit.length === 0 ? null : hit.join(', '),
      target: jobId === undefined ? { at: 'workers' } : { at: 'job', jobId },
      covers: missed,
      alerts: missed.map((key) => ({ rule: 'unserved', about: key })),
    },
  ];
}

/** Jobs of a process that is known to have ended, while its lease still holds. */
function strands(seen: Seen, worker: WorkerView, died: string): Problem[] {
  const { jobs: held } = worker;
  const again = held.length === 1 ? 'it runs' : 'they run';
  const text = `worker ${nameOf(worker, '')} ${died}; ${again} again when its lease has ended`;
  return [{ ...ofHeld(seen, held), text: `${count(held.length, 'job')} stranded: ${text}.` }];
}

/** A problem of a worker that is about the jobs it holds. */
function ofHeld({ definitions, tenant }: Seen, held: readonly HeldJob[]): Omit<Problem, 'text'> {
  const keys = [...new Set(held.map(({ definitionKey }) => definitionKey))];
  const known = ownersOf(definitions);
  const owners = [...new Set(keys.flatMap((key) => ownerOf(known, key) ?? []))];
  // The page of a job belongs to the tenant that is looked at; an operator's list has those of all.
  const first = held.find((job) => job.tenant === ownTenant(tenant));
  return {
    kind: 'worker',
    about: keys.length === 0 ? null : keys.join(', '),
    owner: owners.length === 0 ? null : owners.join(', '),
    target: first ? { at: 'job', jobId: first.jobId } : { at: 'workers' },
    alerts: keys.map((key) => ({ rule: 'stuck', about: key })),
  };
}

/** Each file that live workers could not load, once for all of them. */
export function unloadedFiles({ workers }: Seen): Problem[] {
  const found = workers
    .filter(isAlive)
    .flatMap((worker) => worker.notLoaded.map((text) => ({ worker, text })));
  const groups = [...Map.groupBy(found, ({ text }) => text)];
  const shown = groups.slice(0, FILES_SHOWN).map(([text, [first, ...more]]): Problem => {
    const who = first && more.length === 0 ? nameOf(first.worker) : `${more.length + 1} workers`;
    const words = `${who} could not load ${text.replace(/\.?$/, '.')}`;
    return { kind: 'worker', about: null, text: words, owner: null, target: { at: 'workers' } };
  });
  const others = groups.length - shown.length;
  if (others === 0) return shown;
  const text = `${count(others, 'more file')} could not be loaded.`;
  return [...shown, { kind: 'worker', about: null, text, owner: null, target: { at: 'workers' } }];
}

export function isAlive({ status }: WorkerView): boolean {
  return status !== 'dead';
}

function nameOf({ host, pid }: WorkerView, word = 'Worker '): string {
  return `${word}${host} (pid ${pid})`;
}

function newestFirst(workers: readonly WorkerView[]): WorkerView[] {
  return workers.toSorted((a, b) => b.heartbeatAt.localeCompare(a.heartbeatAt));
}

/** Definitions that no other live worker has. */
function onlyThere(
  { definitions, workerId }: WorkerView,
  workers: readonly WorkerView[],
): string[] {
  const others = workers.filter((other) => isAlive(other) && other.workerId !== workerId);
  const served = new Set(others.flatMap((other) => other.definitions));
  return definitions.filter((name) => !served.has(name)).map((name) => name.replace(/@\d+$/, ''));
}
