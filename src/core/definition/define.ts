import { definitionInfo } from './check-definition.ts';
import { DefinitionError, type DefinitionInfo, type DefinitionPolicy } from './definition.ts';
import {
  type ChildJob,
  type ChildJobs,
  type ChildOutcome,
  type SpawnDefinition,
  type SpawnEntries,
  type SpawnOptions,
  unsuccessfulChildren,
} from '../dependency/children.ts';
import type { JobOutcome } from '../dependency/dependency.ts';
import type { JobError, JobState } from '../job/job.ts';
import type { SignalLinkOptions } from '../signal/signal-link.ts';
import { POLICY_OPTIONS } from './policy-fields.ts';
import {
  shapeAfter,
  type UpgradeFunction,
  type UpgradeInput,
  upgradesOf,
} from '../shape/upgrade.ts';
import { unknownName } from '../values/nearest.ts';
import { type HookName, HOOKS } from '../views/history.ts';

/**
 * Any schema library that implements Standard Schema (zod, valibot, arktype, …) can validate
 * params.
 */
export interface StandardSchema<Output = unknown, Input = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { input(options: { target: string }): Record<string, unknown> };
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { message: string; path?: readonly unknown[] | undefined }[] };

export interface JobLogger {
  trace(...args: unknown[]): void;
  debug(...args: unknown[]): void;
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
  fatal(...args: unknown[]): void;
}

/** The context of a running job. */
export interface JobContext {
  readonly jobId: string;
  /** The tenant of the job; `default` where there is only one. */
  readonly tenant: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Aborts when the job is cancelled, runs out of time, is stalled, or its worker drains. */
  readonly abortSignal: AbortSignal;
  readonly logger: JobLogger;
  /**
   * The secrets of this tenant and definition, by name. Jobs with a process or thread of their own
   * have them as environment variables too.
   */
  readonly secrets: Readonly<Record<string, string | undefined>>;
  /** The outcomes of the jobs that this one was enqueued `after`, in the order of that list. */
  readonly parents: readonly JobOutcome[];
  /** A fraction from 0 to 1 and an optional message. At most one a second is stored. */
  progress(fraction: number, message?: string): void;
  /**
   * A sign of life for a definition with `stallTimeoutMs`; without it, it does nothing. Call it as
   * often as you like: most calls only read a clock.
   */
  heartbeat(): void;
  /**
   * Ends this attempt and runs the job again after the delay, without using an attempt: for work
   * that waits for something. It throws, so rethrow it when you catch.
   */
  snooze(delayMs: number): never;
  /**
   * Adds an event to the history of the job (`GET /v1/jobs/{id}/events`). The payload is any JSON.
   * Resolves when the worker has received it. The worker stores it within a second, and before the
   * outcome of the attempt.
   */
  emitEvent(type: string, payload?: unknown): Promise<void>;
  /**
   * Sends text to callers that follow the job (`GET /v1/jobs/{id}/stream`, `client.stream`): live
   * output, such as the answer of a model. The worker collects 100 ms of text and stores it before
   * the outcome of the attempt. When the code starts again, its stream starts over. Throws when
   * the attempt has streamed more than `LONGSHORE_STREAM_MAX_BYTES`.
   */
  stream(text: string): void;
  /**
   * Stores a JSON value that the next attempt reads as `lastCheckpoint`. Resolves when it is
   * durable; rejects when this attempt has lost its claim.
   */
  checkpoint(value: unknown): Promise<void>;
  /** The last checkpoint of an earlier attempt; undefined when there is none. */
  readonly lastCheckpoint: unknown;
  /**
   * Runs the function once per job: its result is stored, and later attempts get the stored result.
   * Names are unique within a job; steps may run in any order.
   */
  step<T>(name: string, run: () => Promise<T> | T): Promise<T>;
  /**
   * Waits for milliseconds or a text like "2 days" without a process and without using an attempt:
   * it ends this attempt, and the job runs again from the start after that time. Work that must not
   * run twice belongs into steps. It throws, so rethrow it when you catch. Sleeps are recognised by
   * their order, or by their name.
   */
  sleep(length: number | string, options?: { name?: string }): Promise<void>;
  /**
   * Waits for a signal (`POST /v1/jobs/{id}/signals/{name}`) in the same way, and returns its
   * payload. Without one it throws `SignalTimeout` after `timeoutMs`, or after a year. The signal
   * may arrive before the wait.
   */
  waitFor<T = unknown>(name: string, options?: WaitForOptions<T>): Promise<T>;
  /**
   * Makes a link with which a person without an account sends this signal once. Call it in the step
   * that sends the link, and do not return it from the step: who has the link can decide.
   */
  signalLink(name: string, options?: ContextLinkOptions): Promise<string>;
  /**
   * Enqueues a job as a child of this one. Children are recognised by the order of calls, or by
   * their `name`: when the code runs again, it gets the child that exists. Resolves when it is
   * durable; rejects when the job is refused, or this attempt has lost its claim.
   */
  spawn<Input, Result>(
    definition: SpawnDefinition<Input, Result>,
    params?: NoInfer<Input>,
    options?: SpawnOptions,
  ): Promise<ChildJob<Result>>;
  spawn(definition: string, params?: unknown, options?: SpawnOptions): Promise<ChildJob>;
  /** The same for many, at most 10,000 children of one job; stored in batches of up to 500. */
  spawnMany<const All extends readonly (SpawnDefinition | string)[]>(
    entries: SpawnEntries<All>,
  ): Promise<ChildJobs<All>>;
  /**
   * Waits for the end of all children, without a process and without using an attempt, as `waitFor`
   * does. Returns their outcomes in the order in which they were stored. Throws `ChildrenFailed` when
   * one did not succeed, unless `onFailure` is `return`. The type of the results is not checked.
   */
  waitForChildren<Result = unknown>(
    options?: WaitForChildrenOptions,
  ): Promise<ChildOutcome<Result>[]>;
}

export interface WaitForChildrenOptions {
  onFailure?: 'throw' | 'return' | undefined;
}

export interface ContextLinkOptions extends SignalLinkOptions {
  /** The address of the server. Default: `LONGSHORE_PUBLIC_URL`. */
  baseUrl?: string | undefined;
}

export interface WaitForOptions<T = unknown> {
  timeoutMs?: number | undefined;
  /**
   * For the payload; one that does not fit is discarded. A schema with a JSON Schema also makes the
   * form of the dashboard.
   */
  schema?: StandardSchema<T> | undefined;
}

/**
 * The context of a hook: that of the job, and how the job ended. `onStart` has the context of its
 * attempt. The others are jobs of their own: their steps and checkpoints are separate, their events
 * appear in the history of the job that ended, and `snooze` runs the hook again later.
 */
export interface HookContext extends JobContext {
  readonly status: JobState;
  readonly params: unknown;
  /** The return value of the job; null unless it succeeded. */
  readonly result: unknown;
  /** Why the job failed; null unless it did. */
  readonly error: JobError | null;
}

export type Hook = (ctx: HookContext) => Promise<void> | void;

/**
 * `onStart` runs in each attempt, before `run`. The others run after the job has ended, as durable
 * jobs of their own: `onSuccess` or `onFail`, and `onEnd` in any case. A hook never changes the
 * outcome of the job.
 */
export interface JobHooks {
  onStart?: Hook | undefined;
  onSuccess?: Hook | undefined;
  onFail?: Hook | undefined;
  onEnd?: Hook | undefined;
}

export type RunFunction<Params, Result> = (
  params: Params,
  ctx: JobContext,
) => Promise<Result> | Result;

export interface JobOptions<Params, Result> extends DefinitionPolicy, JobHooks {
  run: RunFunction<Params, Result>;
  /**
   * Functions that bring the params of queued jobs to the current shape: `{ 2: (old) => new }`. The
   * highest number is the current shape; jobs without a number have shape 1.
   */
  upgrade?: UpgradeInput | undefined;
}

export interface JobDefinition<Input = unknown, Result = unknown> {
  readonly key: string;
  readonly version: number;
  readonly info: DefinitionInfo;
  readonly schema: StandardSchema | null;
  readonly run: RunFunction<never, Result>;
  readonly hooks: JobHooks;
  /** Without any, all params have shape 1. */
  readonly upgrades?: readonly UpgradeFunction[] | undefined;
  /** The shape of params that the code works with, and that its callers send. */
  readonly paramsShape: number;
  /** For the type checker only: the params of a caller, and the result of `run`. */
  readonly types?: { input: Input; result: Result };
}

const BRAND = Symbol.for('longshore.definition');

const KNOWN_OPTIONS: readonly string[] = [...POLICY_OPTIONS, 'params', 'run', 'upgrade', ...HOOKS];

export function defineJob<Output, Input, Result>(
  options: JobOptions<Output, Result> & { params: StandardSchema<Output, Input> },
): JobDefinition<Input, Result>;
export function defineJob<Params, Result>(
  options: JobOptions<Params, Result>,
): JobDefinition<Params, Result>;
export function defineJob<Params, Result>(
  options: JobOptions<Params, Result> & { params?: StandardSchema },
): JobDefinition<Params, Result> {
  for (const name of Object.keys(options)) {
    if (!KNOWN_OPTIONS.includes(name)) {
      throw new DefinitionError(unknownName('option of defineJob', name, KNOWN_OPTIONS));
    }
  }
  if (typeof options.run !== 'function') {
    throw new DefinitionError(`${String(options.key)}: run must be a function`);
  }
  const schema = schemaOf(options.key, options.params);
  const hooks = hooksOf(options);
  const names = Object.keys(hooks) as HookName[];
  const upgrades = upgradesOf(options.key, options.upgrade);
  const info = definitionInfo(options, {
    paramsSchema: publishedSchema(schema),
    paramsShape: shapeAfter(upgrades),
    hooks: names,
  });
  return branded({ info, schema, run: options.run, hooks, upgrades });
}

export function schemaOf(key: string, params: StandardSchema | undefined): StandardSchema | null {
  if (params === undefined) return null;
  if (typeof params?.['~standard']?.validate !== 'function') {
    throw new DefinitionError(`${key}: params must be a Standard Schema (zod, valibot, …)`);
  }
  return params;
}

/** Marks a value as a definition, so that the loader finds it among the exports of a file. */
export function branded<Input, Result>(
  parts: Pick<JobDefinition<Input, Result>, 'info' | 'schema' | 'run' | 'hooks' | 'upgrades'>,
): JobDefinition<Input, Result> {
  const info = Object.freeze(parts.info);
  const { key, version, paramsShape } = info;
  const definition = { key, version, paramsShape, ...parts };
  Object.defineProperty(definition, BRAND, { value: true });
  return Object.freeze(definition);
}

export function hooksOf(options: JobHooks & { key: string }): JobHooks {
  const hooks: JobHooks = {};
  for (const name of HOOKS) {
    const hook = options[name];
    if (hook === undefined) continue;
    if (typeof hook !== 'function') {
      throw new DefinitionError(`${String(options.key)}: ${name} must be a function`);
    }
    hooks[name] = hook;
  }
  return hooks;
}

export function isJobDefinition(value: unknown): value is JobDefinition {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Schemas with a JSON Schema publish it; others validate in the runner only. */
export function publishedSchema(schema: StandardSchema | null): unknown {
  try {
    return schema?.['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? null;
  } catch {
    return null;
  }
}

/** What `ctx.snooze` and `ctx.sleep` throw. */
export class Snooze extends Error {
  override name = 'Snooze';
  readonly longshore = 'snooze';
  readonly delayMs: number;
  readonly isSleep: boolean;

  constructor(delayMs: number, isSleep = false) {
    super(`snoozed for ${delayMs} ms`);
    this.delayMs = delayMs;
    this.isSleep = isSleep;
  }
}

/** What `ctx.waitFor` throws to end the attempt. */
export class Suspend extends Error {
  override name = 'Suspend';
  readonly longshore = 'suspend';
  readonly signal: string;
  readonly timeoutMs: number;

  constructor(signal: string, timeoutMs: number) {
    super(`waits for the signal ${signal}`);
    this.signal = signal;
    this.timeoutMs = timeoutMs;
  }
}

/** What `ctx.waitForChildren` throws to end the attempt. */
export class AwaitChildren extends Error {
  override name = 'AwaitChildren';
  readonly longshore = 'await-children';

  constructor() {
    super('waits for its children');
  }
}

/** Thrown by `ctx.waitForChildren` when a child did not succeed. It is not retried. */
export class ChildrenFailed extends Error {
  override name = 'ChildrenFailed';
  readonly code = 'CHILDREN_FAILED';
  /** Of all children, also those that succeeded. */
  readonly outcomes: readonly ChildOutcome[];

  constructor(outcomes: readonly ChildOutcome[]) {
    super(unsuccessfulChildren(outcomes) ?? 'a child did not succeed');
    this.outcomes = outcomes;
  }

  static override [Symbol.hasInstance](value: unknown): value is ChildrenFailed {
    return hasCode(value, 'CHILDREN_FAILED');
  }
}

/** Thrown by `ctx.waitFor` when no signal arrived in time. It is not retried. */
export class SignalTimeout extends Error {
  override name = 'SignalTimeout';
  readonly code = 'SIGNAL_TIMEOUT';

  constructor(signal: string) {
    super(`the signal ${signal} did not arrive in time`);
  }

  /** The process of a job may have loaded this class twice: the runner's and that of the job. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return hasCode(value, 'SIGNAL_TIMEOUT');
  }
}

function hasCode(value: unknown, code: string): boolean {
  return value instanceof Error && 'code' in value && value.code === code;
}

/** Thrown by a job: do not retry. */
export class NonRetryable extends Error {
  override name = 'NonRetryable';
  readonly longshore = 'non-retryable';
}

/** Thrown by a job: retry after this delay. */
export class RetryAfter extends Error {
  override name = 'RetryAfter';
  readonly longshore = 'retry-after';
  readonly delayMs: number;

  constructor(delayMs: number, message = `asked to try again in ${delayMs} ms`) {
    super(message);
    this.delayMs = delayMs;
  }
}
