import {
  childrenSentence,
  type KnownChildren,
  parentsSentence,
  type RelatedJob,
} from '../dependency/related.ts';
import { BATCH_KEY, openBatchSentence } from '../batch/batch.ts';
import { isTerminal, type JobView } from '../job/job.ts';
import type { DefinitionLimitsView, PauseView } from '../queue/limit-view.ts';
import { limitsLine } from '../queue/limit-words.ts';
import { isRetryable } from '../failure/failure.ts';
import { pauseWords } from '../queue/pause-words.ts';
import { count } from '../problems/problem.ts';
import { limitFact, reachedLimit, type TenantUse } from '../problems/reached-limit.ts';
import { workerName, type WorkerView } from '../queue/worker.ts';
import { unknownWords } from '../schedule/unknown-definition.ts';
import { endedWorker, leaseFacts } from './job-worker.ts';
import { nearestName } from '../values/nearest.ts';
import { duration, wholeSeconds } from '../values/duration.ts';

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
  /** What the user has to look at for that. */
  target: { at: 'definition'; key: string } | { at: 'workers' } | { at: 'tenants' } | null;
}

type Target = NonNullable<Explanation['target']>;

/** What matters here of a published definition. */
interface KnownDefinition {
  key: string;
  version: number;
  timeoutSeconds: number;
  stallTimeoutMs: number | null;
  isolation: string;
  retryOn: readonly string[] | null;
  limits: Pick<DefinitionLimitsView, 'effective' | 'inUse'>;
}

export interface JobWorld {
  workers: readonly WorkerView[];
  definitions: readonly KnownDefinition[];
  pauses: readonly PauseView[];
  /** The jobs that a suspended job waits for, if it waits for jobs and they are known. */
  parents?: readonly RelatedJob[] | undefined;
  /** The jobs that it has spawned, if it waits for them and they are known. */
  children?: KnownChildren | undefined;
  /** The tenant of the jobs; null if it is unknown. */
  tenant: TenantUse | null;
}

/** Delays below this are normal on a busy system. */
const PATIENCE_MS = 10_000;
const NEAR_TIMEOUT = 0.8;

export function whyNotRunning(job: JobView, world: JobWorld, now: Date): Explanation | null {
  switch (job.status) {
    case 'scheduled': {
      const newer = job.warnings.find(({ code }) => code === 'PARAMS_NEWER');
      if (newer) return ofShape(newer.detail ?? '');
      return job.waitsFor?.sleep ? ofSleep(job, now) : ofTime(job, now, 'Not due yet');
    }
    case 'retrying':
      return ofTime(job, now, `Attempt ${job.attempts} failed; the next one waits for the backoff`);
    case 'suspended':
      if (job.waitsFor?.jobs === 'batch') return ofOpenBatch(job, world);
      if (job.waitsFor?.jobs === 'children') return ofChildren(world);
      return job.waitsFor?.jobs ? ofParents(world) : ofSignal(job, now);
    case 'queued':
      return ofQueue(job, world, now);
    case 'running':
      return ofLease(job, world, now);
    case 'cancelling':
      return ofCancel(job, world, now);
    case 'created': // The sentence above the panel says that it is held.
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
    'Start one with “npx longshore scheduler”, or run “npx longshore doctor”.',
  );
}

function ofSleep(job: JobView, now: Date): Explanation {
  const until = job.runAt?.slice(0, 16).replace('T', ' ') ?? '';
  return ofTime(job, now, `It sleeps (ctx.sleep) until ${until} UTC`);
}

function ofShape(detail: string): Explanation {
  const facts = [detail, 'It uses no attempt while it waits.'];
  return bad('Its params are newer than the code of the workers.', facts, 'Deploy the newer code.');
}

const JOBS_SHOWN = 5;

function ofParents({ parents = [] }: JobWorld): Explanation {
  return waits('It waits for its parents: the jobs that it was enqueued after.', [
    ...(parents.length > 0 ? [parentsSentence(parents)] : []),
    ...openFacts(parents),
    'It uses no slot meanwhile.',
  ]);
}

function ofChildren({ children }: JobWorld): Explanation {
  if (!children) return waits('It waits for its children.', ['It uses no slot meanwhile.']);
  return waits(childrenSentence(children), [
    ...openFacts(children.children, children.childrenOpen),
    'It uses no slot meanwhile.',
  ]);
}

function ofOpenBatch({ jobId }: JobView, { children }: JobWorld): Explanation {
  const { childrenTotal: total = 0, childrenOpen: open = 0 } = children ?? {};
  return waits(
    openBatchSentence({ total, open }),
    ['It uses no slot meanwhile.'],
    `Close it when it has all its jobs: “npx longshore batch close ${jobId}”.`,
  );
}

/** Names the first jobs that have not ended, of which there may be more than these. */
function openFacts(jobs: readonly RelatedJob[], total?: number): string[] {
  const open = jobs.filter(({ status }) => status !== null && !isTerminal(status));
  const shown = open.slice(0, JOBS_SHOWN).map(({ jobId, definitionKey, status }) => {
    return `${definitionKey ?? 'Job'} ${jobId} is ${status ?? 'deleted'}.`;
  });
  const more = (total ?? open.length) - shown.length;
  return more > 0 ? [...shown, `${more} more have not ended.`] : shown;
}

function ofSignal(job: JobView, now: Date): Explanation {
  const leftMs = job.runAt === null ? 0 : Date.parse(job.runAt) - now.getTime();
  if (leftMs <= 0) return ofTime(job, now, 'The signal did not arrive in time');
  const name = job.waitsFor?.signal ?? '';
  return waits(
    `It waits for the signal “${name}”.`,
    [`The wait times out in ${duration(leftMs)}. It uses no slot meanwhile.`],
    'Send the signal in the dashboard, by API or with “npx longshore signal”.',
  );
}

function ofQueue(job: JobView, world: JobWorld, now: Date): Explanation {
  const waitedMs = now.getTime() - Date.parse(job.queuedAt ?? job.createdAt);
  const alive = world.workers.filter(({ status }) => status !== 'dead');
  const active = alive.filter(({ status }) => status === 'active');
  const isBatch = job.definitionKey === BATCH_KEY;
  const unknown = isBatch ? null : unpublished(job, world);
  if (unknown !== null) {
    return bad(unknown, [], 'Start a worker that has this definition.');
  }
  const pause = pauseOf(job, world);
  if (pause !== null) {
    const elsewhere: Target | null = pause.scope === 'tenant' ? { at: 'tenants' } : null;
    const isOwn = pause.scope === 'definition';
    const target = isOwn ? ({ at: 'definition', key: job.definitionKey } as const) : elsewhere;
    return bad(pauseWords(pause, now), [], 'Resume it to run the job.', target);
  }
  if (alive.length === 0) {
    return bad('No live worker.', lastSeen(world, now), 'Start one with “npx longshore worker”.');
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
  if (isBatch) {
    const todo =
      waitedMs < PATIENCE_MS
        ? null
        : 'Start one with “npx longshore worker” or “npx longshore start”.';
    return waits('All its jobs have ended; a worker beside the database ends it.', [], todo);
  }
  const able = active.filter(({ definitions }) => definitions.includes(nameOf(job)));
  const unloadable = job.warnings.find(({ code }) => code === 'UNLOADABLE');
  if (able.length === 0 && unloadable) {
    const facts = [unloadable.detail ?? '', 'It uses no attempt while it waits.'];
    const todo = 'The workers try again every two seconds: check the storage of artifacts.';
    return bad('No worker can load its code.', facts, todo, { at: 'workers' });
  }
  if (able.length === 0) {
    const lost = world.workers.filter((worker) => worker.lost && serves(worker, job));
    return bad(
      `No live worker has ${nameOf(job)} loaded.`,
      lost.length > 0 ? lastSeen({ ...world, workers: lost }, now) : [],
      'Start a worker that has it.',
      { at: 'workers' },
    );
  }
  const full = reachedLimit(job.definitionKey, world);
  if (full !== null) {
    const isTenant = full.of === 'tenant';
    const target: Target = isTenant
      ? { at: 'tenants' }
      : { at: 'definition', key: job.definitionKey };
    const todo = `Raise the limit of ${isTenant ? 'the tenant' : 'its definition'}, or wait.`;
    return { ...waits(limitFact(full), [], todo), target };
  }
  const slots = sum(able.map((worker) => worker.slots));
  const busy = sum(able.map((worker) => worker.busy));
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
    [...limitedBy(job, world), ...key],
    'Check the workers, and run “npx longshore doctor” on their machines.',
  );
}

/** The name under which workers load it; a hook job belongs to its definition. */
function nameOf({ definitionKey, definitionVersion }: JobView): string {
  return `${definitionKey.replace(/^\$hook:/, '')}@${definitionVersion}`;
}

function serves({ definitions }: WorkerView, job: JobView): boolean {
  return definitions.includes(nameOf(job));
}

function pauseOf({ definitionKey, tenant }: JobView, { pauses }: JobWorld): PauseView | null {
  const names = { all: null, definition: definitionKey, tenant };
  return pauses.find(({ scope, name }) => name === names[scope]) ?? null;
}

/** A rate, or a limit whose use only the default tenant may see. */
function limitedBy({ definitionKey }: JobView, { definitions }: JobWorld): string[] {
  const limits = definitions.find(({ key }) => key === definitionKey)?.limits.effective;
  const words = limits ? limitsLine(limits) : '';
  return words === '' ? [] : [`A limit of ${definitionKey} may block it: ${words}.`];
}

function unpublished(job: JobView, { definitions }: JobWorld): string | null {
  // A hook job belongs to its definition.
  const key = job.definitionKey.replace(/^\$hook:/, '');
  const versions = definitions.filter((one) => one.key === key).map(({ version }) => version);
  if (versions.includes(job.definitionVersion)) return null;
  if (versions.length === 0)
    return unknownWords(key, {
      nearest: nearestName(
        key,
        definitions.map((one) => one.key),
      ),
    });
  return `No worker has registered version ${job.definitionVersion} of “${key}”, only ${versions.join(', ')}.`;
}

function lastSeen({ workers }: JobWorld, now: Date): string[] {
  const [last] = [...workers].sort((a, b) => (a.heartbeatAt < b.heartbeatAt ? 1 : -1));
  if (!last) return ['No worker was seen in the last 24 hours.'];
  const agoMs = now.getTime() - Date.parse(last.heartbeatAt);
  return [`Last heartbeat: ${workerName(last)}, ${wholeSeconds(agoMs)} ago.`];
}

function limitOf({ concurrencyKey }: JobView): string[] {
  if (concurrencyKey === null) return [];
  return [`Other jobs may hold its concurrency key “${concurrencyKey}”.`];
}

function ofLease(job: JobView, world: JobWorld, now: Date): Explanation {
  const facts = [...leaseFacts(job, world.workers, now), ...stall(job, world)];
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
  const ended = endedWorker(job, world.workers, now);
  if (ended !== null) {
    return bad(ended, facts, 'It runs again when the lease of the worker has ended.');
  }
  const timeoutMs = timeoutOf(job, world);
  const ranMs = job.startedAt === null ? 0 : now.getTime() - Date.parse(job.startedAt);
  if (timeoutMs !== null && ranMs > timeoutMs) {
    const late = `${wholeSeconds(ranMs - timeoutMs)} past`;
    return isInline(job, world)
      ? bad(`Yes: ${late} its ${duration(timeoutMs)} timeout.`, [...facts, CANNOT_KILL], CANCEL)
      : bad(
          `Probably: ${late} the ${duration(timeoutMs)} timeout of its definition.`,
          facts,
          'Cancel it, unless it was enqueued with a longer timeout.',
        );
  }
  if (timeoutMs !== null && ranMs > timeoutMs * NEAR_TIMEOUT) {
    return bad(
      `Probably: running ${wholeSeconds(ranMs)} of its ${duration(timeoutMs)} timeout.`,
      [timesOut(job, world, timeoutMs - ranMs), ...facts],
      'If it needs more time, raise timeoutSeconds of its definition.',
    );
  }
  return {
    tone: 'fine',
    headline: `No sign of it: its worker is alive.${atMost(timeoutMs)}`,
    facts,
    todo: null,
    target: null,
  };
}

function atMost(timeoutMs: number | null): string {
  return timeoutMs === null ? '' : ` Its timeout of ${duration(timeoutMs)} ends it at the latest.`;
}

const CANCEL = 'Cancel it; if it ignores that, restart its worker.';
const CANNOT_KILL = 'It runs in the worker’s process and cannot be killed if it ignores its end.';

/** When its time is over, and what happens then. */
function timesOut(job: JobView, world: JobWorld, leftMs: number): string {
  const { attempts, maxAttempts } = job;
  const retryOn = definitionOf(job, world)?.retryOn ?? null;
  const isLast = attempts >= maxAttempts || !isRetryable('TIMEOUT', retryOn);
  const then = isLast
    ? 'then it fails for good'
    : `then attempt ${attempts + 1} of ${maxAttempts} starts`;
  return `It times out in ${wholeSeconds(leftMs)}, ${then}.`;
}

function isInline(job: JobView, world: JobWorld): boolean {
  return definitionOf(job, world)?.isolation === 'inline';
}

function ofCancel(job: JobView, world: JobWorld, now: Date): Explanation {
  const askedMs =
    job.cancelRequestedAt === null ? 0 : now.getTime() - Date.parse(job.cancelRequestedAt);
  const end = isInline(job, world)
    ? 'it runs in the worker’s process and cannot be killed if it ignores that.'
    : 'the process is killed if it does not stop.';
  const headline = `Cancellation requested ${wholeSeconds(askedMs)} ago; ${end}`;
  return waits(headline, leaseFacts(job, world.workers, now));
}

function definitionOf(job: JobView, { definitions }: JobWorld): KnownDefinition | undefined {
  return definitions.find(
    ({ key, version }) => key === job.definitionKey && version === job.definitionVersion,
  );
}

/** The definition's timeout; a job may override it, which the API does not show. */
function timeoutOf(job: JobView, world: JobWorld): number | null {
  const definition = definitionOf(job, world);
  return definition ? definition.timeoutSeconds * 1_000 : null;
}

function stall(job: JobView, world: JobWorld): string[] {
  const limitMs = definitionOf(job, world)?.stallTimeoutMs ?? null;
  if (limitMs === null) return [];
  return [`It ends as STALLED when it gives no sign of life for ${duration(limitMs)}.`];
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
