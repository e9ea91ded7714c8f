import { declaredSchedules } from './declared-schedule.ts';
import {
  DEFAULT_MAX_ATTEMPTS,
  DEFAULT_MAX_INTERRUPTIONS,
  DEFAULT_TIMEOUT_SECONDS,
  DefinitionError,
  type DefinitionInfo,
  type DefinitionParts,
  type DefinitionPolicy,
  type Isolation,
  ISOLATIONS,
  KEY_SHAPE,
  MAX_ATTEMPTS_MAX,
  MEMORY_MB_MAX,
  MEMORY_MB_MIN,
  STALL_TIMEOUT_MS_MAX,
  STALL_TIMEOUT_MS_MIN,
  TIMEOUT_SECONDS_MAX,
} from './definition.ts';
import { FIRST_SHAPE, PARAMS_SHAPE_MAX } from '../shape/upgrade.ts';
import { definitionAbout } from './definition-about.ts';
import { HOUR_MS } from '../values/duration.ts';
import { FAILURE_CODES, isFailureCode } from '../failure/failure.ts';
import { LimitError, type Limits, limitsOf } from '../queue/limits.ts';
import { unknownName } from '../values/nearest.ts';
import { knownFields, presetOf, retryPolicy } from '../failure/retry-input.ts';

const REDACT_MAX = 100;
const REDACT_PATH = /^[^.]{1,100}(\.[^.]{1,100}){0,9}$/;

/** Fills in defaults and rejects invalid fields with a message that names the field. */
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
    stallTimeoutMs: stallTimeoutMs(key, policy.stallTimeoutMs),
    retry: retryPolicy(knownFields(key, policy.retry)),
    retryOn: retryOn(key, policy.retryOn),
    cancelGraceMs:
      policy.cancelGraceMs === undefined
        ? null
        : integerIn(key, 'cancelGraceMs', policy.cancelGraceMs, 0, HOUR_MS),
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
    group: parts.group ?? null,
    schedules: declaredSchedules(policy.schedule, refused),
    paramsSchema: parts.paramsSchema,
    paramsShape: integerIn(
      key,
      'paramsShape',
      parts.paramsShape ?? FIRST_SHAPE,
      1,
      PARAMS_SHAPE_MAX,
    ),
  };
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

/** Inline jobs have no process of their own whose memory could be limited. */
function memoryMb(key: string, { memoryMb: limit, isolation }: DefinitionPolicy): number | null {
  if (limit === undefined) return null;
  if (isolation === 'inline') {
    throw new DefinitionError(`${key}: memoryMb cannot be enforced with isolation 'inline'`);
  }
  // 0 removes the default limit.
  if (limit === 0) return 0;
  return integerIn(key, 'memoryMb', limit, MEMORY_MB_MIN, MEMORY_MB_MAX);
}

function limits(key: string, policy: DefinitionPolicy): Limits {
  try {
    const { concurrencyKeyLimit = policy.concurrencyLimitPerKey } = policy;
    return limitsOf({ ...policy, concurrencyKeyLimit });
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
  // Less than half a millisecond would round to 0.
  return Math.max(1, Math.round(seconds * 1_000));
}

function stallTimeoutMs(key: string, limitMs: number | undefined): number | null {
  if (limitMs === undefined) return null;
  return integerIn(key, 'stallTimeoutMs', limitMs, STALL_TIMEOUT_MS_MIN, STALL_TIMEOUT_MS_MAX);
}

function integerIn(key: string, name: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new DefinitionError(`${key}: ${name} must be a whole number from ${min} to ${max}`);
  }
  return value;
}
