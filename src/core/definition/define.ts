import { definitionInfo } from './check-definition.ts';
import { DefinitionError, type DefinitionInfo, type DefinitionPolicy } from './definition.ts';
import type { JobError, JobState } from '../job/job.ts';
import { LIMIT_NAMES } from '../queue/limits.ts';
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
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Aborts when the job is cancelled, runs out of time, or its worker drains. */
  readonly abortSignal: AbortSignal;
  readonly logger: JobLogger;
  /** A fraction from 0 to 1 and an optional message. At most one a second is stored. */
  progress(fraction: number, message?: string): void;
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
}

export interface JobDefinition<Input = unknown, Result = unknown> {
  readonly key: string;
  readonly version: number;
  readonly info: DefinitionInfo;
  readonly schema: StandardSchema | null;
  readonly run: RunFunction<never, Result>;
  readonly hooks: JobHooks;
  /** For the type checker only: the params of a caller, and the result of `run`. */
  readonly types?: { input: Input; result: Result };
}

const BRAND = Symbol.for('longshore.definition');

const KNOWN_OPTIONS = [
  'key',
  'version',
  'owner',
  'description',
  'runbookUrl',
  'params',
  'maxAttempts',
  'defaultMaxAttempts',
  'timeoutSeconds',
  'retry',
  'retryOn',
  'cancelGraceMs',
  'maxInterruptions',
  'isolation',
  'memoryMb',
  'redact',
  ...LIMIT_NAMES,
  'schedule',
  'run',
  ...HOOKS,
];

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
  const info = definitionInfo(options, { paramsSchema: publishedSchema(schema), hooks: names });
  return branded({ info, schema, run: options.run, hooks });
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
  parts: Pick<JobDefinition<Input, Result>, 'info' | 'schema' | 'run' | 'hooks'>,
): JobDefinition<Input, Result> {
  const info = Object.freeze(parts.info);
  const definition = { key: info.key, version: info.version, ...parts };
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

/** What `ctx.snooze` throws. */
export class Snooze extends Error {
  override name = 'Snooze';
  readonly longshore = 'snooze';
  readonly delayMs: number;

  constructor(delayMs: number) {
    super(`snoozed for ${delayMs} ms`);
    this.delayMs = delayMs;
  }
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
