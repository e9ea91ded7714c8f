import type { JobError } from '../job/job.ts';
import { type FailureCode, isFailureCode } from './failure.ts';

/**
 * Turns any thrown value into a `JobError` with a code that says whether a retry can help. User
 * code throws anything: strings, undefined, HTTP errors of any library, errors with getters that
 * throw. This function must never throw, or the failure path would fail.
 */

const MESSAGE_MAX = 4_000;
const STACK_MAX = 16_000;
export const CAUSE_DEPTH_MAX = 5;

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'UND_ERR_SOCKET',
]);
const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

const MEMORY_CODES = new Set(['ERR_MEMORY_ALLOCATION_FAILED', 'ERR_WORKER_OUT_OF_MEMORY']);
/** V8's message when a Buffer or typed array cannot be allocated; it has no code. */
const NO_ROOM = 'Array buffer allocation failed';

const TIME_OF_DAY = /\d\d:\d\d:\d\d/;

export interface Classified {
  error: JobError;
  retryAfterMs: number | null;
}

export function classify(thrown: unknown, nowMs: number): Classified {
  const found = findVerdict(thrown, nowMs, 0);
  const code = found?.code ?? 'HANDLER_ERROR';
  return { error: describe(thrown, code, 0), retryAfterMs: found?.retryAfterMs ?? null };
}

interface Verdict {
  code: FailureCode;
  retryAfterMs: number | null;
}

/** The first error in the cause chain with a verdict decides; an aggregate uses its members. */
function findVerdict(thrown: unknown, nowMs: number, depth: number): Verdict | null {
  if (depth > CAUSE_DEPTH_MAX || typeof thrown !== 'object' || thrown === null) return null;
  const own = ownVerdict(thrown, nowMs);
  if (own) return own;
  for (const inner of [read(thrown, 'cause'), ...members(thrown)]) {
    const verdict = findVerdict(inner, nowMs, depth + 1);
    if (verdict) return verdict;
  }
  return null;
}

function ownVerdict(thrown: object, nowMs: number): Verdict | null {
  const brand = read(thrown, 'longshore');
  if (brand === 'non-retryable') return { code: 'NON_RETRYABLE', retryAfterMs: null };
  if (brand === 'retry-after') {
    return { code: 'RATE_LIMITED', retryAfterMs: numberOrNull(read(thrown, 'delayMs')) };
  }
  const code = read(thrown, 'code');
  if (typeof code === 'string') {
    if (isFailureCode(code)) return { code, retryAfterMs: null };
    if (NETWORK_CODES.has(code)) return { code: 'NETWORK_ERROR', retryAfterMs: null };
    if (TIMEOUT_CODES.has(code)) return { code: 'TIMEOUT', retryAfterMs: null };
    if (MEMORY_CODES.has(code)) return { code: 'OUT_OF_MEMORY', retryAfterMs: null };
  }
  if (read(thrown, 'message') === NO_ROOM) return { code: 'OUT_OF_MEMORY', retryAfterMs: null };
  const byStatus = codeOfStatus(httpStatus(thrown));
  if (byStatus) return { code: byStatus, retryAfterMs: retryAfterHeader(thrown, nowMs) };
  if (read(thrown, 'name') === 'TimeoutError') return { code: 'TIMEOUT', retryAfterMs: null };
  return null;
}

export function codeOfStatus(status: number | null): FailureCode | null {
  if (status === null || status < 400 || status > 599) return null;
  if (status === 401 || status === 403) return 'AUTHENTICATION_FAILED';
  if (status === 404 || status === 410) return 'NOT_FOUND';
  if (status === 408) return 'TIMEOUT';
  if (status === 429) return 'RATE_LIMITED';
  return status >= 500 ? 'UPSTREAM_5XX' : 'NON_RETRYABLE';
}

function httpStatus(thrown: object): number | null {
  const response = read(thrown, 'response');
  const candidates = [read(thrown, 'status'), read(thrown, 'statusCode'), read(response, 'status')];
  return candidates.map(numberOrNull).find((status) => status !== null) ?? null;
}

/** `Retry-After` is seconds or an HTTP date, in a `Headers` object or a plain one. */
function retryAfterHeader(thrown: object, nowMs: number): number | null {
  for (const holder of [thrown, read(thrown, 'response')]) {
    const headers = read(holder, 'headers');
    const get = read(headers, 'get');
    const value =
      typeof get === 'function'
        ? attempt(() => Reflect.apply(get, headers, ['retry-after']))
        : (read(headers, 'retry-after') ?? read(headers, 'Retry-After'));
    const parsed = parseRetryAfter(value, nowMs);
    if (parsed !== null) return parsed;
  }
  return null;
}

export function parseRetryAfter(value: unknown, nowMs: number): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const seconds = Number(value);
  if (String(value).trim() !== '' && Number.isFinite(seconds) && seconds >= 0) {
    return Math.round(seconds * 1_000);
  }
  // Date.parse also accepts "-5" and "in 5 minutes", so require a time of day.
  const at = TIME_OF_DAY.test(String(value)) ? Date.parse(String(value)) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

function describe(thrown: unknown, code: string, depth: number): JobError {
  const cause = read(thrown, 'cause') ?? members(thrown)[0];
  const deeper = cause !== undefined && cause !== null && depth < CAUSE_DEPTH_MAX;
  const causeCode = deeper ? (ownVerdictCode(cause) ?? 'HANDLER_ERROR') : code;
  return {
    code,
    message: clean(messageOf(thrown), MESSAGE_MAX),
    stack: cleanOrNull(read(thrown, 'stack'), STACK_MAX),
    cause: deeper ? describe(cause, causeCode, depth + 1) : null,
  };
}

function ownVerdictCode(thrown: unknown): string | null {
  return typeof thrown === 'object' && thrown !== null
    ? (ownVerdict(thrown, 0)?.code ?? null)
    : null;
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown || 'an empty string was thrown';
  if (thrown === undefined || thrown === null) return `the job threw ${String(thrown)}`;
  const message = read(thrown, 'message');
  if (typeof message === 'string' && message !== '') return message;
  const name = read(thrown, 'name');
  if (typeof name === 'string' && attempt(() => thrown instanceof Error)) return name;
  const json = typeof thrown === 'object' ? attempt(() => JSON.stringify(thrown)) : undefined;
  return json ?? attempt(() => String(thrown)) ?? 'unknown error';
}

/** PostgreSQL text cannot hold NUL, and a lone surrogate is not valid text. */
function clean(text: string, maxLength: number): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}… (truncated)` : text;
  return short.replaceAll('\u0000', '\uFFFD').toWellFormed();
}

function cleanOrNull(text: unknown, maxLength: number): string | null {
  return typeof text === 'string' && text !== '' ? clean(text, maxLength) : null;
}

function members(thrown: unknown): unknown[] {
  const errors = read(thrown, 'errors');
  // Array.isArray throws on a revoked proxy.
  return attempt(() => (Array.isArray(errors) ? (errors.slice(0, 10) as unknown[]) : [])) ?? [];
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function read(holder: unknown, property: string): unknown {
  if ((typeof holder !== 'object' && typeof holder !== 'function') || holder === null) {
    return undefined;
  }
  return attempt(() => Reflect.get(holder, property) as unknown);
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
