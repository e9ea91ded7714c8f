import { definitionInfo } from './check-definition.ts';
import { DefinitionError, type DefinitionInfo, type DefinitionPolicy } from './definition.ts';
import type { JobError, JobState } from '../job/job.ts';
import { LIMIT_NAMES } from '../queue/limits.ts';
import { unknownName } from '../values/nearest.ts';
import { type HookName, HOOKS } from '../views/history.ts';

/** Any schema library that speaks Standard Schema (zod, valibot, arktype, …) can check params. */
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

/** What a running job may use. */
export interface JobContext {
  readonly jobId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Aborts when the job is cancelled, runs out of time, or its worker drains. */
  readonly abortSignal: AbortSignal;
  readonly logger: JobLogger;
  /** A fraction from 0 to 1 and a word on what is going on. At most one a second is stored. */
  progress(fraction: number, message?: string): void;
  /**
   * Ends this attempt and runs the job again after so long, without using an attempt: for work that
   * waits for something. It throws, so nothing after it runs; let it through when you catch.
   */
  snooze(delayMs: number): never;
  /**
   * Adds to the history of the job (`GET /v1/jobs/{id}/events`). The payload is any JSON. Resolves when
   * the worker has it, which stores it within a second, and before the outcome of the attempt.
   */
  emitEvent(type: string, payload?: unknown): Promise<void>;
  /**
   * Stores a value, JSON like a result, that the next attempt finds as `lastCheckpoint`. Resolves
   * when it is durable; rejects when this attempt is no longer the one that counts.
   */
  checkpoint(value: unknown): Promise<void>;
  /** What an earlier attempt stored last; undefined when none did. */
  readonly lastCheckpoint: unknown;
  /**
   * Runs the function once for this job: its result is stored, and later attempts get it back
   * instead of running it again. Names are unique within a job; the order of steps is free.
   */
  step<T>(name: string, run: () => Promise<T> | T): Promise<T>;
}

/**
 * What a hook may use: all that the job may, and how the job stands. `onStart` has the context of its
 * attempt. The others are small jobs: their steps and checkpoints are their own, events are told in the
 * history of the job that has ended, and `snooze` runs the hook again later.
 */
export interface HookContext extends JobContext {
  readonly status: JobState;
  readonly params: unknown;
  /** What the job returned; null unless it succeeded. */
  readonly result: unknown;
  /** Why the job failed; null unless it did. */
  readonly error: JobError | null;
}

export type Hook = (ctx: HookContext) => Promise<void> | void;

/**
 * `onStart` runs at each attempt, before `run`. The others run once the job has ended, as small jobs
 * of their own that are never lost: `onSuccess` or `onFail`, and `onEnd` in any case. What a hook
 * does or throws never changes the outcome of the job.
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
  /** Only for the type checker: what a caller passes, and what `run` returns. */
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

/** Marks a value as a definition, so that loading finds it among the exports of a file. */
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

/** Schemas that can tell their JSON Schema publish it; the others are checked before running only. */
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

/** Thrown by a job: trying again cannot help. */
export class NonRetryable extends Error {
  override name = 'NonRetryable';
  readonly longshore = 'non-retryable';
}

/** Thrown by a job: try again, but not before this long. */
export class RetryAfter extends Error {
  override name = 'RetryAfter';
  readonly longshore = 'retry-after';
  readonly delayMs: number;

  constructor(delayMs: number, message = `asked to try again in ${delayMs} ms`) {
    super(message);
    this.delayMs = delayMs;
  }
}
