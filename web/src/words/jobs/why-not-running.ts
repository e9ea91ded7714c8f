import type { PublishedDefinition } from '../../../../src/client/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import type { PauseView } from '../../../../src/core/queue/limit-view.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { wholeSeconds } from '../moment.ts';
import { pauseWords } from '../queues/pause-words.ts';
import type { Place } from '../place.ts';

/**
 * The question of everybody who waits for a job: why does it not run, or, if it runs, is it stuck?
 * The answer is made of what the API tells about the job, the workers and the definition, and of
 * nothing else; where these leave a doubt, it is told as a doubt.
 */
export interface Explanation {
  tone: 'fine' | 'waits' | 'bad';
  headline: string;
  facts: string[];
  /** What a person can do about it; null when the right thing is to wait. */
  todo: string | null;
  /** Where that is done, if there is such a screen. */
  place: Place | null;
}

export interface World {
  workers: readonly WorkerView[];
  definitions: readonly PublishedDefinition[];
  pauses: readonly PauseView[];
}

/** Being late by less than this is how a busy system looks, and no reason to worry anybody. */
const PATIENCE_MS = 10_000;
const NEAR_TIMEOUT = 0.8;
const JUST_NOW_MS = 2_000;

export function whyNotRunning(job: JobView, world: World, now: Date): Explanation | null {
  switch (job.status) {
    case 'created':
      return waits('It is held, and stays so until somebody releases it.', [], 'Release it.');
    case 'scheduled':
      return ofTime(job, now, 'Its time has not come yet');
    case 'retrying':
      return ofTime(job, now, `Attempt ${job.attempts} failed; the next one waits for its backoff`);
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
  if (leftMs > -PATIENCE_MS) return waits('Its time has come; it is being queued.');
  return bad(
    `Its time came ${wholeSeconds(-leftMs)} ago, and nothing has queued it.`,
    ['Schedulers do that, and none seems to be running.'],
    'Start one with “longshore scheduler”, or look with “longshore doctor”.',
  );
}

function ofQueue(job: JobView, world: World, now: Date): Explanation {
  const waitedMs = now.getTime() - Date.parse(job.queuedAt ?? job.createdAt);
  const alive = world.workers.filter(({ status }) => status !== 'dead');
  const active = alive.filter(({ status }) => status === 'active');
  const unknown = unpublished(job, world);
  if (unknown !== null) {
    return bad(unknown, [], 'Start a worker that has this definition; the job waits for it.');
  }
  const pause = pauseOf(job, world);
  if (pause !== null) {
    const place: Place | null =
      pause.scope === 'definition' ? { at: 'definition', key: job.definitionKey } : null;
    return bad(pauseWords(pause, now), [], 'Resume it when it may go on.', place);
  }
  if (alive.length === 0) {
    return bad('No worker is alive.', lastSeen(world, now), 'Start one with “longshore worker”.');
  }
  if (active.length === 0) {
    const drains =
      alive.length === 1 ? 'The only worker drains' : `All ${alive.length} workers drain`;
    return bad(`${drains}: nothing more is claimed.`, [], 'Start another worker.');
  }
  const able = active.filter(({ definitions }) => definitions.includes(nameOf(job)));
  if (able.length === 0) {
    const lost = world.workers.filter((worker) => worker.lost && serves(worker, job));
    return bad(
      `No live worker has ${nameOf(job)} loaded.`,
      lost.length > 0 ? lastSeen({ ...world, workers: lost }, now) : [],
      'Start a worker that has it; the job waits for it.',
      { at: 'workers' },
    );
  }
  const full = limitTaken(job, world);
  if (full !== null) {
    const place: Place = { at: 'definition', key: job.definitionKey };
    return { ...waits(full, [], 'Raise the limit of its definition, or wait.'), place };
  }
  const slots = sum(able.map((worker) => worker.slots));
  const busy = sum(able.map((worker) => worker.running.length));
  const key = limitOf(job);
  if (busy >= slots) {
    return waits(
      `All ${slots} slots of ${count(able.length, 'worker')} are busy.`,
      ['It runs when a slot is free and it is its turn: higher priorities first.', ...key],
      'For more at the same time, start another worker or raise its concurrency.',
    );
  }
  if (waitedMs < PATIENCE_MS) return waits('It has just been queued; a worker will take it.', key);
  return bad(
    `${slots - busy} of ${slots} slots are free, and yet it has waited for ${wholeSeconds(waitedMs)}.`,
    ['A rate or a limit may hold it back.', ...key],
    'Look at the workers, and ask “longshore doctor” on their machines.',
  );
}

/** What a worker has loaded is named so; the small jobs of hooks belong to whoever has it. */
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
  return `${definitionKey} may run ${most} at a time, and ${most === 1 ? 'one does' : 'so many do'}.`;
}

function unpublished(job: JobView, { definitions }: World): string | null {
  // The small jobs of hooks belong to whoever has the definition.
  const key = job.definitionKey.replace(/^\$hook:/, '');
  const versions = definitions.filter((one) => one.key === key).map(({ version }) => version);
  if (versions.includes(job.definitionVersion)) return null;
  if (versions.length === 0) return `No worker has ever brought a definition “${key}”.`;
  return `No worker has ever brought version ${job.definitionVersion} of “${key}”, only ${versions.join(', ')}.`;
}

function lastSeen({ workers }: World, now: Date): string[] {
  const [last] = [...workers].sort((a, b) => (a.heartbeatAt < b.heartbeatAt ? 1 : -1));
  if (!last) return ['None has been seen for a day.'];
  const agoMs = now.getTime() - Date.parse(last.heartbeatAt);
  return [`The last one, ${last.host} (pid ${last.pid}), was heard of ${wholeSeconds(agoMs)} ago.`];
}

function limitOf({ concurrencyKey }: JobView): string[] {
  if (concurrencyKey === null) return [];
  return [`Its concurrency key “${concurrencyKey}” may be taken by other jobs.`];
}

function ofLease(job: JobView, world: World, now: Date): Explanation {
  const facts = lease(job, world, now);
  const overdueMs =
    job.leaseExpiresAt === null ? 0 : now.getTime() - Date.parse(job.leaseExpiresAt);
  if (overdueMs > 0) {
    return bad(
      `It is not: the lease of its worker ended ${wholeSeconds(overdueMs)} ago.`,
      facts,
      overdueMs > PATIENCE_MS
        ? 'A scheduler takes such jobs back, and none seems to be running.'
        : 'It is taken back in a moment and runs again elsewhere.',
    );
  }
  const timeoutMs = timeoutOf(job, world);
  const ranMs = job.startedAt === null ? 0 : now.getTime() - Date.parse(job.startedAt);
  if (timeoutMs !== null && ranMs > timeoutMs * NEAR_TIMEOUT) {
    return bad(
      `It seems so: it has run for ${wholeSeconds(ranMs)} and is stopped after ${duration(timeoutMs)}.`,
      facts,
      'If it must take longer, give its definition a longer timeoutSeconds.',
    );
  }
  return {
    tone: 'fine',
    headline: 'It runs, and its worker is alive.',
    facts,
    todo: null,
    place: null,
  };
}

function ofCancel(job: JobView, world: World, now: Date): Explanation {
  const askedMs =
    job.cancelRequestedAt === null ? 0 : now.getTime() - Date.parse(job.cancelRequestedAt);
  const headline = `It was asked to stop ${wholeSeconds(askedMs)} ago; what does not stop is killed.`;
  return waits(headline, lease(job, world, now));
}

function lease(job: JobView, { workers }: World, now: Date): string[] {
  const worker = workers.find(({ workerId }) => workerId === job.workerId);
  const heartbeat = job.heartbeatAt ?? worker?.heartbeatAt ?? null;
  const name = worker ? `${worker.host} (pid ${worker.pid})` : (job.workerId ?? 'Its worker');
  if (heartbeat === null) return [];
  const agoMs = now.getTime() - Date.parse(heartbeat);
  const heard = agoMs < JUST_NOW_MS ? 'just now' : `${wholeSeconds(agoMs)} ago`;
  const state = worker?.status === 'draining' ? ' It drains: it finishes this and leaves.' : '';
  return [`${name} holds it, and was heard of ${heard}.${state}`];
}

/** A job may override it, which the API does not tell; then this is what usually holds. */
function timeoutOf(job: JobView, { definitions }: World): number | null {
  const definition = definitions.find(
    ({ key, version }) => key === job.definitionKey && version === job.definitionVersion,
  );
  return definition ? definition.timeoutSeconds * 1_000 : null;
}

function waits(headline: string, facts: string[] = [], todo: string | null = null): Explanation {
  return { tone: 'waits', headline, facts, todo, place: null };
}

function bad(
  headline: string,
  facts: string[],
  todo: string,
  place: Place | null = null,
): Explanation {
  return { tone: 'bad', headline, facts, todo, place };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function count(number: number, word: string): string {
  return number === 1 ? `1 ${word}` : `${number} ${word}s`;
}
