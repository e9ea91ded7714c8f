import type { PublishedDefinition } from '../../../../src/client/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import type { PauseView } from '../../../../src/core/queue/limit-view.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { wholeSeconds } from '../moment.ts';
import { pauseWords } from '../queues/pause-words.ts';
import type { Target } from '../target.ts';

/**
 * Why a job does not run or, if it runs, whether it is stuck. Derived from the API's data about the
 * job, workers and definition only; uncertain causes are worded as such.
 */
export interface Explanation {
  tone: 'fine' | 'waits' | 'bad';
  headline: string;
  facts: string[];
  /** What the user can do; null if waiting is right. */
  todo: string | null;
  /** The screen for that, and its name. */
  target: Target | null;
}

export interface World {
  workers: readonly WorkerView[];
  definitions: readonly PublishedDefinition[];
  pauses: readonly PauseView[];
}

/** Delays below this are normal on a busy system. */
const PATIENCE_MS = 10_000;
const NEAR_TIMEOUT = 0.8;
const JUST_NOW_MS = 2_000;

export function whyNotRunning(job: JobView, world: World, now: Date): Explanation | null {
  switch (job.status) {
    case 'created':
      return waits('Held until it is released.', [], 'Release it.');
    case 'scheduled':
      return ofTime(job, now, 'Not due yet');
    case 'retrying':
      return ofTime(job, now, `Attempt ${job.attempts} failed; the next one waits for the backoff`);
    case 'queued':
      return ofQueue(job, world, now);
    case 'running':
      return ofLease(job, world, now);
    case 'cancelling':
      return ofCancel(job, world, now);
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return null;
  }
}

function ofTime({ runAt }: JobView, now: Date, because: string): Explanation {
  const leftMs = runAt === null ? 0 : Date.parse(runAt) - now.getTime();
  if (leftMs > 0) return waits(`${because}: it runs in ${wholeSeconds(leftMs)}.`);
  if (leftMs > -PATIENCE_MS) return waits('Due now; it is being queued.');
  return bad(
    `Due ${wholeSeconds(-leftMs)} ago, but not queued yet.`,
    ['A scheduler queues due jobs, and none seems to be running.'],
    'Start one with “longshore scheduler”, or run “longshore doctor”.',
  );
}

function ofQueue(job: JobView, world: World, now: Date): Explanation {
  const waitedMs = now.getTime() - Date.parse(job.queuedAt ?? job.createdAt);
  const alive = world.workers.filter(({ status }) => status !== 'dead');
  const active = alive.filter(({ status }) => status === 'active');
  const unknown = unpublished(job, world);
  if (unknown !== null) {
    return bad(unknown, [], 'Start a worker that has this definition.');
  }
  const pause = pauseOf(job, world);
  if (pause !== null) {
    const target: Target | null =
      pause.scope === 'definition' ? { at: 'definition', key: job.definitionKey } : null;
    return bad(pauseWords(pause, now), [], 'Resume it to run the job.', target);
  }
  if (alive.length === 0) {
    return bad('No live worker.', lastSeen(world, now), 'Start one with “longshore worker”.');
  }
  if (active.length === 0) {
    const drains =
      alive.length === 1
        ? 'The only worker is draining'
        : `All ${alive.length} workers are draining`;
    return bad(
      `${drains} and claim${alive.length === 1 ? 's' : ''} no more jobs.`,
      [],
      'Start another worker.',
    );
  }
  const able = active.filter(({ definitions }) => definitions.includes(nameOf(job)));
  if (able.length === 0) {
    const lost = world.workers.filter((worker) => worker.lost && serves(worker, job));
    return bad(
      `No live worker has ${nameOf(job)} loaded.`,
      lost.length > 0 ? lastSeen({ ...world, workers: lost }, now) : [],
      'Start a worker that has it.',
      { at: 'workers' },
    );
  }
  const full = limitTaken(job, world);
  if (full !== null) {
    const target: Target = { at: 'definition', key: job.definitionKey };
    return { ...waits(full, [], 'Raise the limit of its definition, or wait.'), target };
  }
  const slots = sum(able.map((worker) => worker.slots));
  const busy = sum(able.map((worker) => worker.running.length));
  const key = limitOf(job);
  if (busy >= slots) {
    return waits(
      `All ${slots} slots of ${count(able.length, 'worker')} are busy.`,
      ['It runs when a slot is free; higher priorities run first.', ...key],
      'To run more jobs at a time, start another worker or raise its concurrency.',
    );
  }
  if (waitedMs < PATIENCE_MS) return waits('Just queued; a worker will claim it.', key);
  return bad(
    `${slots - busy} of ${slots} slots are free, but it has waited ${wholeSeconds(waitedMs)}.`,
    ['A rate or concurrency limit may block it.', ...key],
    'Check the workers, and run “longshore doctor” on their machines.',
  );
}

/** The name under which workers load it; a hook job belongs to its definition. */
function nameOf({ definitionKey, definitionVersion }: JobView): string {
  return `${definitionKey.replace(/^\$hook:/, '')}@${definitionVersion}`;
}

function serves({ definitions }: WorkerView, job: JobView): boolean {
  return definitions.includes(nameOf(job));
}

function pauseOf({ definitionKey, tenant }: JobView, { pauses }: World): PauseView | null {
  const names = { all: null, definition: definitionKey, tenant };
  return pauses.find(({ scope, name }) => name === names[scope]) ?? null;
}

function limitTaken({ definitionKey }: JobView, { definitions }: World): string | null {
  const limits = definitions.find(({ key }) => key === definitionKey)?.limits;
  const most = limits?.effective.concurrencyLimit ?? null;
  if (most === null || (limits?.inUse ?? 0) < most) return null;
  return `The concurrency limit of ${definitionKey} (${most}) is reached.`;
}

function unpublished(job: JobView, { definitions }: World): string | null {
  // A hook job belongs to its definition.
  const key = job.definitionKey.replace(/^\$hook:/, '');
  const versions = definitions.filter((one) => one.key === key).map(({ version }) => version);
  if (versions.includes(job.definitionVersion)) return null;
  if (versions.length === 0) return `No worker has registered “${key}”.`;
  return `No worker has registered version ${job.definitionVersion} of “${key}”, only ${versions.join(', ')}.`;
}

function lastSeen({ workers }: World, now: Date): string[] {
  const [last] = [...workers].sort((a, b) => (a.heartbeatAt < b.heartbeatAt ? 1 : -1));
  if (!last) return ['No worker was seen in the last 24 hours.'];
  const agoMs = now.getTime() - Date.parse(last.heartbeatAt);
  return [`Last heartbeat: ${last.host} (pid ${last.pid}), ${wholeSeconds(agoMs)} ago.`];
}

function limitOf({ concurrencyKey }: JobView): string[] {
  if (concurrencyKey === null) return [];
  return [`Other jobs may hold its concurrency key “${concurrencyKey}”.`];
}

function ofLease(job: JobView, world: World, now: Date): Explanation {
  const facts = lease(job, world, now);
  const overdueMs =
    job.leaseExpiresAt === null ? 0 : now.getTime() - Date.parse(job.leaseExpiresAt);
  if (overdueMs > 0) {
    return bad(
      `Not running: the lease of its worker expired ${wholeSeconds(overdueMs)} ago.`,
      facts,
      overdueMs > PATIENCE_MS
        ? 'A scheduler recovers such jobs, and none seems to be running.'
        : 'It will be recovered and run again shortly.',
    );
  }
  const timeoutMs = timeoutOf(job, world);
  const ranMs = job.startedAt === null ? 0 : now.getTime() - Date.parse(job.startedAt);
  if (timeoutMs !== null && ranMs > timeoutMs * NEAR_TIMEOUT) {
    return bad(
      `Probably: running ${wholeSeconds(ranMs)} of its ${duration(timeoutMs)} timeout.`,
      facts,
      'If it needs more time, raise timeoutSeconds of its definition.',
    );
  }
  return {
    tone: 'fine',
    headline: 'No: it is running, and its worker is alive.',
    facts,
    todo: null,
    target: null,
  };
}

function ofCancel(job: JobView, world: World, now: Date): Explanation {
  const askedMs =
    job.cancelRequestedAt === null ? 0 : now.getTime() - Date.parse(job.cancelRequestedAt);
  const headline = `Cancellation requested ${wholeSeconds(askedMs)} ago; the process is killed if it does not stop.`;
  return waits(headline, lease(job, world, now));
}

function lease(job: JobView, { workers }: World, now: Date): string[] {
  const worker = workers.find(({ workerId }) => workerId === job.workerId);
  const heartbeat = job.heartbeatAt ?? worker?.heartbeatAt ?? null;
  const name = worker ? `${worker.host} (pid ${worker.pid})` : (job.workerId ?? 'Its worker');
  if (heartbeat === null) return [];
  const agoMs = now.getTime() - Date.parse(heartbeat);
  const heard = agoMs < JUST_NOW_MS ? 'just now' : `${wholeSeconds(agoMs)} ago`;
  const state = worker?.status === 'draining' ? ' It is draining: it exits after this job.' : '';
  return [`Claimed by ${name}, last heartbeat ${heard}.${state}`];
}

/** The definition's timeout; a job may override it, which the API does not show. */
function timeoutOf(job: JobView, { definitions }: World): number | null {
  const definition = definitions.find(
    ({ key, version }) => key === job.definitionKey && version === job.definitionVersion,
  );
  return definition ? definition.timeoutSeconds * 1_000 : null;
}

function waits(headline: string, facts: string[] = [], todo: string | null = null): Explanation {
  return { tone: 'waits', headline, facts, todo, target: null };
}

function bad(
  headline: string,
  facts: string[],
  todo: string,
  target: Target | null = null,
): Explanation {
  return { tone: 'bad', headline, facts, todo, target };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function count(number: number, word: string): string {
  return number === 1 ? `1 ${word}` : `${number} ${word}s`;
}
