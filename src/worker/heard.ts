import type { JobError } from '../core/job.ts';
import type { Outcome } from '../core/lifecycle.ts';
import { RESULT_MAX_BYTES } from '../core/result.ts';
import type { FromRunner } from './ipc.ts';

/**
 * What a runner says is said by user code, for all we know: it is taken apart and put together again
 * before anybody believes it. Above all a result must be one JSON value, because the results of many
 * jobs are written in one statement and one that is two values would push the others out of place.
 */
export function heard(line: string): FromRunner | null {
  try {
    return message(JSON.parse(line) as unknown);
  } catch {
    return null;
  }
}

const MESSAGE_MAX = 8_192;
const STACK_MAX = 32_768;
const CAUSES_MAX = 6;
const SNOOZE_MS_MAX = 366 * 24 * 3_600_000;

function message(said: unknown): FromRunner | null {
  if (!isRecord(said)) return null;
  const { type } = said;
  if (type === 'ready') return said as unknown as FromRunner;
  const claim = count(said['claim']);
  if (claim === null) return null;
  if (type === 'progress') {
    const fraction = said['fraction'];
    if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) return null;
    return { type, claim, fraction, message: text(said['message'], MESSAGE_MAX) };
  }
  if (type === 'log') {
    const level = text(said['level'], 10) ?? 'info';
    return { type, claim, level, message: text(said['message'], MESSAGE_MAX) ?? '' };
  }
  const outcome = type === 'outcome' ? outcomeOf(said['outcome']) : null;
  if (!outcome) return null;
  const cpuMs = count(said['cpuMs']);
  return { type: 'outcome', claim, outcome, cpuMs, peakRssBytes: count(said['peakRssBytes']) };
}

function outcomeOf(said: unknown): Outcome | null {
  if (!isRecord(said)) return null;
  if (said['kind'] === 'success') {
    const { resultJson } = said;
    if (typeof resultJson !== 'string' || resultJson.length > RESULT_MAX_BYTES) return null;
    JSON.parse(resultJson);
    return { kind: 'success', resultJson };
  }
  if (said['kind'] === 'failure') {
    const error = errorOf(said['error'], 0);
    return error && { kind: 'failure', error, retryAfterMs: count(said['retryAfterMs']) };
  }
  const delayMs = count(said['delayMs']);
  if (said['kind'] !== 'snoozed' || delayMs === null || delayMs > SNOOZE_MS_MAX) return null;
  return { kind: 'snoozed', delayMs };
}

function errorOf(said: unknown, depth: number): JobError | null {
  if (!isRecord(said) || depth > CAUSES_MAX) return null;
  return {
    code: text(said['code'], 64) ?? 'HANDLER_ERROR',
    message: text(said['message'], MESSAGE_MAX) ?? '',
    stack: text(said['stack'], STACK_MAX),
    cause: errorOf(said['cause'], depth + 1),
  };
}

/** PostgreSQL's text and ours hold no NUL, and half a surrogate pair is no text. */
function text(said: unknown, max: number): string | null {
  if (typeof said !== 'string') return null;
  return said.slice(0, max).replaceAll('\u0000', '\uFFFD').toWellFormed();
}

function count(said: unknown): number | null {
  return typeof said === 'number' && Number.isSafeInteger(Math.round(said)) && said >= 0
    ? Math.round(said)
    : null;
}

function isRecord(said: unknown): said is Record<string, unknown> {
  return typeof said === 'object' && said !== null && !Array.isArray(said);
}
