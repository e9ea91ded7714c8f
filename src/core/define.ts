import {
  DefinitionError,
  type DefinitionInfo,
  type DefinitionPolicy,
  definitionInfo,
} from './definition.ts';
import { unknownName } from './nearest.ts';

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
}

export type RunFunction<Params, Result> = (
  params: Params,
  ctx: JobContext,
) => Promise<Result> | Result;

export interface JobOptions<Params, Result> extends DefinitionPolicy {
  run: RunFunction<Params, Result>;
}

export interface JobDefinition<Input = unknown, Result = unknown> {
  readonly key: string;
  readonly version: number;
  readonly info: DefinitionInfo;
  readonly schema: StandardSchema | null;
  readonly run: RunFunction<never, Result>;
  /** Only for the type checker: what a caller passes, and what `run` returns. */
  readonly types?: { input: Input; result: Result };
}

const BRAND = Symbol.for('longshore.definition');

const KNOWN_OPTIONS = [
  'key',
  'version',
  'owner',
  'params',
  'maxAttempts',
  'defaultMaxAttempts',
  'timeoutSeconds',
  'retry',
  'retryOn',
  'cancelGraceMs',
  'maxInterruptions',
  'isolation',
  'schedule',
  'run',
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
  const schema = options.params ?? null;
  if (schema !== null && typeof schema['~standard']?.validate !== 'function') {
    throw new DefinitionError(`${options.key}: params must be a Standard Schema (zod, valibot, …)`);
  }
  const info = Object.freeze(definitionInfo(options, publishedSchema(schema)));
  const definition = { key: info.key, version: info.version, info, schema, run: options.run };
  Object.defineProperty(definition, BRAND, { value: true });
  return Object.freeze(definition);
}

export function isJobDefinition(value: unknown): value is JobDefinition {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Schemas that can tell their JSON Schema publish it; the others are checked before running only. */
function publishedSchema(schema: StandardSchema | null): unknown {
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
