import type { InputOf, ResultOf } from '../client/job.ts';
import { createHash } from 'node:crypto';
import type { JobDefinition } from '../core/definition/define.ts';
import {
  askedText,
  type ChildRequest,
  CHILDREN_STEP,
  type KnownChild,
  type SpawnedChild,
} from '../core/dependency/children.ts';
import { type JobOutcome, PARENTS_STEP } from '../core/dependency/dependency.ts';
import type { DefinitionInfo } from '../core/definition/definition.ts';
import type { JobError } from '../core/job/job.ts';
import { decide, type Outcome, type Transition } from '../core/job/lifecycle.ts';
import { checkParams } from '../core/job/params.ts';
import type { Level, LogStream } from '../core/views/history.ts';
import { systemClock } from '../runtime/clock.ts';
import { refuseOldNode } from '../runtime/node-version.ts';
import { Execution } from '../worker/attempt/execution.ts';
import { isSleepStep, rejectedSignal, signalStep } from '../core/job/signal.ts';
import { YEAR_MS } from '../core/values/duration.ts';
import { secretsFrom } from '../worker/attempt/secrets.ts';
import type { Runner } from '../worker/runners/runner.ts';
import { InlineRunner } from '../worker/runners/inline-runner.ts';
import type { Saved } from '../worker/ipc.ts';
import { byName } from '../worker/runner/run.ts';

export interface RunOptions {
  /** The number of the attempt; default 1. */
  attempt?: number | undefined;
  maxAttempts?: number | undefined;
  /** The shape of the params; default: the current one. An older one is upgraded first. */
  paramsShape?: number | undefined;
  jobId?: string | undefined;
  /** The steps stored by earlier attempts. */
  steps?: Record<string, unknown> | undefined;
  checkpoint?: unknown;
  /** The payloads of signals that have arrived, by name. */
  signals?: Record<string, unknown> | undefined;
  /** What `ctx.parents` has. */
  parents?: readonly JobOutcome[] | undefined;
  /** How the children of the run `after` ended, in the order in which it spawned them. */
  children?: readonly ChildEnd[] | undefined;
  /** Continues after an earlier run: its next attempt, with what that one stored. */
  after?: JobRun | undefined;
  /** Cancels the job when it aborts. */
  signal?: AbortSignal | undefined;
  /** Called with each log line at once; `logs` has them all. */
  onLog?: ((line: JobRun['logs'][number]) => void) | undefined;
  /** What `ctx.secrets` has. */
  secrets?: Record<string, string> | undefined;
}

/** How a child ended; by default it succeeded with the result null. */
export type ChildEnd = Partial<Omit<JobOutcome, 'id'>>;

/** A child that a job has spawned. */
export interface RunChild {
  jobId: string;
  /** As given, or its place in the order of calls: `#1`. */
  name: string;
  definitionKey: string;
  params: unknown;
}

/** What one attempt did, and what would follow. */
export interface JobRun<Result = unknown> {
  attempt: number;
  outcome: Outcome;
  /** The resulting state of the job. */
  status: Transition['to'];
  /** The return value as it would be stored; undefined unless it succeeded. */
  result: Result | undefined;
  error: JobError | null;
  /** The delay before the next attempt, without jitter; null when there is none. */
  nextInMs: number | null;
  logs: { level: Level; stream: LogStream; message: string }[];
  progress: { fraction: number; message: string | null }[];
  events: { type: string; payload: unknown }[];
  /** The text of `ctx.stream`. */
  streamed: string;
  /** What is stored now, earlier attempts included. */
  steps: Record<string, unknown>;
  checkpoint: unknown;
  /** All children, earlier attempts included. */
  children: RunChild[];
}

const JOB_ID = '00000000-0000-7000-8000-000000000000';
/** Of links that a job makes. */
const PUBLIC_URL = 'http://localhost:4400';
const CANCEL_GRACE_MS = 5_000;
/** The middle of the jitter: delays are exactly as defined. */
const NO_JITTER = 0.5;

/**
 * Runs one attempt of a job here, without server and database, by the code of the worker: params
 * are validated, `ctx` is the real one, timeout and cancel end it, and the same function decides
 * the outcome. Two differences: steps are stored in memory, and a job that ignores its abort signal
 * cannot be killed.
 */
export async function runJob<Definition extends JobDefinition>(
  definition: Definition,
  params: InputOf<Definition>,
  options?: RunOptions,
): Promise<JobRun<ResultOf<Definition>>>;
/** Params of an older shape are not those that the definition takes today. */
export async function runJob<Definition extends JobDefinition>(
  definition: Definition,
  params: unknown,
  options: RunOptions & { paramsShape: number },
): Promise<JobRun<ResultOf<Definition>>>;
export async function runJob<Definition extends JobDefinition>(
  definition: Definition,
  params: unknown,
  options: RunOptions = {},
): Promise<JobRun<ResultOf<Definition>>> {
  refuseOldNode();
  const { info } = definition;
  if (info.command) {
    throw new TypeError(`${info.key} is a command, which only a worker can run: use createTestRig`);
  }
  if (info.group) {
    throw new TypeError(`the jobs of ${info.key} run in groups: use runBatch`);
  }
  const runner = runnerOf(definition);
  return (await runOn(definition, runner, params, options)) as JobRun<ResultOf<Definition>>;
}

export function runnerOf(definition: JobDefinition): InlineRunner {
  return new InlineRunner(byName([definition]), () => systemClock.now().getTime(), PUBLIC_URL);
}

/** Options of a replay: the children that the job has on a server. */
export interface ReplayOptions extends RunOptions {
  recorded?: readonly KnownChild[] | undefined;
}

/** One attempt of one job on a runner. */
export async function runOn(
  definition: JobDefinition,
  runner: Runner,
  params: unknown,
  options: ReplayOptions,
): Promise<JobRun> {
  const { info } = definition;
  const { after, signal, paramsShape = info.paramsShape, recorded = [] } = options;
  if (paramsShape > info.paramsShape) {
    throw new TypeError(
      `the params have shape ${paramsShape}, and the code of ${info.key} has shape ${info.paramsShape}`,
    );
  }
  const attempt = options.attempt ?? (after ? after.attempt + Number(charged(after)) : 1);
  const parents = options.parents ? { [PARENTS_STEP]: options.parents } : {};
  const children = [...(after?.children ?? [])];
  const known = [...recorded, ...knownOf(children, options.children ?? [])];
  const family = known.length > 0 ? { [CHILDREN_STEP]: known } : {};
  const saved: Saved = {
    checkpoint: options.checkpoint ?? after?.checkpoint,
    steps: {
      ...after?.steps,
      ...options.steps,
      ...signalSteps(options.signals ?? {}),
      ...parents,
      ...family,
    },
  };
  // The attempt that stored a sleep is over, and so is the sleep.
  const slept = Object.keys(saved.steps).filter(isSleepStep);
  const agesMs = Object.fromEntries(slept.map((name) => [name, YEAR_MS]));
  const { execution, job } = begin(info, params, attempt, options);
  const run: Pick<JobRun, 'logs' | 'progress' | 'events' | 'streamed'> = {
    logs: [],
    progress: [],
    events: [],
    streamed: '',
  };
  const cancel = () => {
    execution.state = 'cancelling';
    execution.askToStop('cancel');
  };
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  const ended = Promise.withResolvers<Outcome>();
  execution.run(
    runner,
    {
      paramsJson: job.paramsJson,
      saved: { ...structuredClone(saved), agesMs },
      secrets: options.secrets ? secretsFrom(options.secrets) : null,
    },
    {
      events: {
        onProgress: (_, { fraction, message }) => run.progress.push({ fraction, message }),
        onLine: (_, { level, stream, message }) => {
          run.logs.push({ level, stream, message });
          options.onLog?.({ level, stream, message });
        },
        onStream: (_, text) => (run.streamed += text),
        onStep: () => {},
        onEvent: (_, type, payloadJson) => run.events.push(eventOf(type, payloadJson)),
      },
      saveStep: async (_, { step, valueJson }) => {
        const value = JSON.parse(valueJson) as unknown;
        const rejected = step === null ? null : rejectedSignal(step);
        if (rejected !== null) delete saved.steps[signalStep(rejected)];
        else if (step === null) saved.checkpoint = value;
        else saved.steps[step] = value;
        return null;
      },
      spawn: async (_, asked) => ({
        problem: null,
        spawned: asked.map((child) => spawned(children, child, recorded.length)),
      }),
      onEnd: (_, __, { outcome }) => ended.resolve(outcome),
    },
  );
  const outcome = await ended.promise;
  signal?.removeEventListener('abort', cancel);
  const budget = { ...job, ...info, maxAttempts: job.maxAttempts, state: execution.state };
  const next = decide(budget, outcome, NO_JITTER);
  const waits = next.to === 'retrying' || next.to === 'scheduled' || next.to === 'suspended';
  return {
    ...run,
    ...saved,
    checkpoint: saved.checkpoint,
    children,
    attempt,
    outcome,
    status: next.to,
    result: resultOf(outcome),
    error: next.error,
    nextInMs: waits ? next.delayMs : null,
  };
}

function begin(info: DefinitionInfo, params: unknown, attempt: number, options: RunOptions) {
  const checked = checkParams(params === undefined ? {} : params);
  if (!checked.ok) throw new TypeError(`params${checked.pointer}: ${checked.detail}`);
  const job = {
    id: options.jobId ?? JOB_ID,
    queue: 1,
    rank: 0,
    seq: 0,
    attempts: attempt,
    maxAttempts: options.maxAttempts ?? info.maxAttempts,
    claim: attempt,
    interruptions: 0,
    paramsJson: checked.json,
    policy: { paramsShape: options.paramsShape ?? info.paramsShape },
    limited: false,
    watched: false,
    traceparent: null,
    waitedMs: null,
  };
  const accepted = { job, definition: info, tenant: 'default', secretsMark: null };
  return { job, execution: new Execution(0, accepted, CANCEL_GRACE_MS) };
}

/** A name that exists is the same child. */
function spawned(children: RunChild[], { name, job }: ChildRequest, others: number): SpawnedChild {
  const found = children.findIndex((child) => child.name === name);
  const index = found < 0 ? children.length : found;
  const position = others + index;
  const known = children[index];
  if (known) return { id: known.jobId, position };
  const jobId = `${JOB_ID.slice(0, -6)}${(position + 1).toString(16).padStart(6, '0')}`;
  children.push({
    jobId,
    name,
    definitionKey: String(job['definitionKey']),
    params: job['params'],
  });
  return { id: jobId, position };
}

/** The children of an earlier attempt, as a worker gives them. */
function knownOf(children: readonly RunChild[], ends: readonly ChildEnd[]): KnownChild[] {
  return children.map(({ jobId: id, name, definitionKey, params }, index) => {
    const asked = createHash('sha256').update(askedText(definitionKey, params)).digest('hex');
    const end = ends[index];
    const { state = 'succeeded', result = null, error = null, omitted } = end ?? {};
    const outcome = { state, result, error, ...(omitted && { omitted }) };
    return { id, name, asked, outcome: end ? outcome : null };
  });
}

function signalSteps(signals: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(signals);
  return Object.fromEntries(entries.map(([name, payload]) => [signalStep(name), payload]));
}

/** A snooze or a wait refunds its attempt. */
function charged({ outcome }: JobRun): boolean {
  return outcome.kind !== 'snoozed' && outcome.kind !== 'suspended';
}

function eventOf(type: 'custom' | 'hook', payloadJson: string): { type: string; payload: unknown } {
  const event = JSON.parse(payloadJson) as { type: string; payload: unknown };
  return type === 'custom' ? event : { type, payload: event };
}

function resultOf(outcome: Outcome): unknown {
  return outcome.kind === 'success' ? JSON.parse(outcome.resultJson) : undefined;
}
