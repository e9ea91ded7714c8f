import type { RetryPolicy } from './job.ts';
import { DEFAULT_RETRY, RETRY_PRESETS } from './backoff.ts';
import {
  declaredSchedules,
  type DeclaredSchedule,
  type ScheduleInput,
} from './declared-schedule.ts';
import { type AboutInput, definitionAbout, type DefinitionAbout } from './definition-about.ts';
import { FAILURE_CODES, isFailureCode } from './failure.ts';
import { type Limits, LimitError, type LimitsInput, limitsOf } from './limits.ts';
import { unknownName } from './nearest.ts';
import type { HookName } from './story.ts';

/**
 * What is known of a definition without its code: the part that a runner reports to its worker, that
 * the worker publishes in the database, and that the API lists.
 */
export interface DefinitionInfo extends DefinitionAbout {
  key: string;
  version: number;
  maxAttempts: number;
  timeoutMs: number;
  retry: RetryPolicy;
  retryOn: string[] | null;
  cancelGraceMs: number | null;
  maxInterruptions: number;
  isolation: Isolation;
  /** For the whole process with all its children; null means no limit. */
  memoryMb: number | null;
  /** As its code says; people may have said otherwise (`store/limits.ts`). */
  limits: Limits;
  hooks: HookName[];
  /** The program of `defineCommand`; null for a function. */
  command: CommandInfo | null;
  /** What of its params, results and events is hidden, beyond what names give away. */
  redact: string[];
  /** The schedules that its code asks for. */
  schedules: DeclaredSchedule[];
  paramsSchema: unknown;
}

export interface CommandInfo {
  argv: string[];
  /** Where it runs. Null: beside the file of the definition, which only its loader knows. */
  cwd: string | null;
}

/** Where a job runs: a warm process, a process used once, a thread, or the worker itself. */
export const ISOLATIONS = ['process', 'fresh', 'thread', 'inline'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** The policy part of what `defineJob` takes. Everything is optional but the key. */
export interface DefinitionPolicy extends LimitsInput, AboutInput {
  key: string;
  version?: number | undefined;
  maxAttempts?: number | undefined;
  defaultMaxAttempts?: number | undefined;
  timeoutSeconds?: number | undefined;
  retry?: RetryInput | undefined;
  retryOn?: readonly string[] | undefined;
  cancelGraceMs?: number | undefined;
  maxInterruptions?: number | undefined;
  isolation?: Isolation | undefined;
  memoryMb?: number | undefined;
  /** Paths to hide, such as `card.number`; `*` stands for any one name. */
  redact?: readonly string[] | undefined;
  schedule?: ScheduleInput | undefined;
}

/** What a definition has besides its policy: the parts that are code, told by name. */
export interface DefinitionParts {
  paramsSchema: unknown;
  hooks?: readonly HookName[];
  command?: CommandInfo | null;
}

/** How people write a retry policy: a preset's name, an explicit list, or any part of the default. */
export type RetryInput =
  | 'webhook'
  | 'report'
  | 'cleanup'
  | { baseMs?: number | undefined; maxMs?: number | undefined; jitter?: number | undefined }
  | { delaysMs: readonly number[]; jitter?: number | undefined };

export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_TIMEOUT_SECONDS = 3_600;
export const DEFAULT_MAX_INTERRUPTIONS = 10;
export const MEMORY_MB_MIN = 64;
export const MEMORY_MB_MAX = 1_048_576;
export const PRIORITY_MAX = 1_000_000;
export const MAX_ATTEMPTS_MAX = 1_000;
export const TIMEOUT_SECONDS_MAX = 30 * 24 * 3_600;
const REDACT_MAX = 100;
const REDACT_PATH = /^[^.]{1,100}(\.[^.]{1,100}){0,9}$/;
export const KEY_SHAPE = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/;

export class DefinitionError extends Error {
  override name = 'DefinitionError';
}

/** Fills in the defaults and refuses what cannot work, in a sentence that names the field. */
export function definitionInfo(policy: DefinitionPolicy, parts: DefinitionParts): DefinitionInfo {
  const { key } = policy;
  if (typeof key !== 'string' || !KEY_SHAPE.test(key)) {
    throw new DefinitionError(
      `key must be 1 to 200 letters, digits and . _ : / - (got ${JSON.stringify(key)})`,
    );
  }
  const refused = (sentence: string) => new DefinitionError(`${key}: ${sentence}`);
  const preset = typeof policy.retry === 'string' ? presetOf(policy.retry) : undefined;
  const whole = (name: string, value: number | undefined, fallback: number, max: number) =>
    integerIn(key, name, value ?? fallback, name === 'maxInterruptions' ? 0 : 1, max);
  return {
    key,
    version: whole('version', policy.version, 1, 2_147_483_647),
    ...definitionAbout(policy, refused),
    maxAttempts: whole(
      'maxAttempts',
      policy.maxAttempts ?? policy.defaultMaxAttempts,
      preset?.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
      MAX_ATTEMPTS_MAX,
    ),
    timeoutMs: timeoutMs(key, policy.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS),
    retry: retryPolicy(knownFields(key, policy.retry)),
    retryOn: retryOn(key, policy.retryOn),
    cancelGraceMs:
      policy.cancelGraceMs === undefined
        ? null
        : integerIn(key, 'cancelGraceMs', policy.cancelGraceMs, 0, 3_600_000),
    maxInterruptions: whole(
      'maxInterruptions',
      policy.maxInterruptions,
      DEFAULT_MAX_INTERRUPTIONS,
      1_000_000,
    ),
    isolation: isolationOf(key, policy.isolation ?? 'process'),
    memoryMb: memoryMb(key, policy),
    redact: redactPaths(key, policy.redact),
    limits: limits(key, policy),
    hooks: [...(parts.hooks ?? [])],
    command: parts.command ?? null,
    schedules: declaredSchedules(policy.schedule, refused),
    paramsSchema: parts.paramsSchema,
  };
}

export function retryPolicy(input: RetryInput | undefined): RetryPolicy {
  if (input === undefined) return DEFAULT_RETRY;
  if (typeof input === 'string') return presetOf(input).retry;
  if (typeof input !== 'object' || input === null) {
    throw new DefinitionError('retry must be a preset, or an object');
  }
  const jitter = numberIn('retry.jitter', input.jitter ?? 0.1, 0, 1);
  if ('delaysMs' in input) {
    if (!Array.isArray(input.delaysMs) || input.delaysMs.length === 0) {
      throw new DefinitionError('retry.delaysMs must list at least one delay');
    }
    const delaysMs = input.delaysMs.map((delay) => numberIn('retry.delaysMs', delay, 0, YEAR_MS));
    return { delaysMs, jitter };
  }
  const base = DEFAULT_RETRY as { baseMs: number; maxMs: number };
  const baseMs = numberIn('retry.baseMs', input.baseMs ?? base.baseMs, 0, YEAR_MS);
  const maxMs = numberIn('retry.maxMs', input.maxMs ?? Math.max(base.maxMs, baseMs), 0, YEAR_MS);
  return { baseMs, maxMs, jitter };
}

const YEAR_MS = 366 * 24 * 3_600_000;

/** The API checks its own bodies; here the type checker did, unless the code is JavaScript. */
function knownFields(key: string, input: RetryInput | undefined): RetryInput | undefined {
  if (typeof input !== 'object' || input === null) return input;
  const known = 'delaysMs' in input ? ['delaysMs', 'jitter'] : ['baseMs', 'maxMs', 'jitter'];
  for (const name of Object.keys(input)) {
    if (!known.includes(name)) {
      throw new DefinitionError(`${key}: ${unknownName('field of retry', name, known)}`);
    }
  }
  return input;
}

function presetOf(name: string): { retry: RetryPolicy; maxAttempts: number } {
  const preset = Object.hasOwn(RETRY_PRESETS, name) ? RETRY_PRESETS[name] : undefined;
  if (preset) return preset;
  throw new DefinitionError(unknownName('retry preset', name, Object.keys(RETRY_PRESETS)));
}

function retryOn(key: string, codes: readonly string[] | undefined): string[] | null {
  if (codes === undefined) return null;
  if (!Array.isArray(codes)) {
    throw new DefinitionError(`${key}: retryOn must be a list of error codes`);
  }
  for (const code of codes) {
    if (!isFailureCode(code)) {
      const known = Object.keys(FAILURE_CODES);
      throw new DefinitionError(`${key}: retryOn: ${unknownName('error code', code, known)}`);
    }
  }
  return [...codes];
}

function isolationOf(key: string, isolation: string): Isolation {
  const found = ISOLATIONS.find((known) => known === isolation);
  if (found) return found;
  throw new DefinitionError(`${key}: ${unknownName('isolation', String(isolation), ISOLATIONS)}`);
}

function redactPaths(key: string, paths: readonly string[] | undefined): string[] {
  if (paths === undefined) return [];
  const good = (path: unknown) => typeof path === 'string' && REDACT_PATH.test(path);
  if (!Array.isArray(paths) || paths.length > REDACT_MAX || !paths.every(good)) {
    throw new DefinitionError(
      `${key}: redact must list at most ${REDACT_MAX} paths like 'card.number'`,
    );
  }
  return [...paths];
}

/** Inside the worker there is no process whose memory could be limited. */
function memoryMb(key: string, { memoryMb: limit, isolation }: DefinitionPolicy): number | null {
  if (limit === undefined) return null;
  if (isolation === 'inline') {
    throw new DefinitionError(`${key}: memoryMb cannot be enforced with isolation 'inline'`);
  }
  return integerIn(key, 'memoryMb', limit, MEMORY_MB_MIN, MEMORY_MB_MAX);
}

function limits(key: string, policy: DefinitionPolicy): Limits {
  try {
    return limitsOf(policy);
  } catch (error) {
    throw error instanceof LimitError ? new DefinitionError(`${key}: ${error.message}`) : error;
  }
}

function timeoutMs(key: string, seconds: number): number {
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds > TIMEOUT_SECONDS_MAX) {
    throw new DefinitionError(
      `${key}: timeoutSeconds must be above 0 and at most ${TIMEOUT_SECONDS_MAX} (30 days)`,
    );
  }
  // Less than half a millisecond would round to "no time at all".
  return Math.max(1, Math.round(seconds * 1_000));
}

function integerIn(key: string, name: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new DefinitionError(`${key}: ${name} must be a whole number from ${min} to ${max}`);
  }
  return value;
}

function numberIn(name: string, value: number, min: number, max: number): number {
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw new DefinitionError(`${name} must be a number from ${min} to ${max}`);
  }
  return value;
}
