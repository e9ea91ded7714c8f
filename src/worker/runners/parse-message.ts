import type { DefinitionInfo } from '../../core/definition/definition.ts';
import type { JobError } from '../../core/job/job.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import { isRecord } from '../../core/values/record.ts';
import { RESULT_MAX_BYTES } from '../../core/job/result.ts';
import { HOOKS, LEVELS } from '../../core/views/history.ts';
import {
  EVENT_NAME_MAX,
  EVENT_PAYLOAD_MAX,
  type FromRunner,
  MESSAGE_MAX,
  SAVED_MAX_BYTES,
  SNOOZE_MS_MAX,
  STEP_NAME_MAX,
} from '../ipc.ts';

/**
 * Validates a message of a runner, which may come from user code: it is rebuilt from known fields.
 * Above all, a result must be exactly one JSON value, because the results of many jobs are written
 * in one statement and two values would shift the others.
 */
export function parseMessage(line: string): FromRunner | null {
  try {
    return message(JSON.parse(line) as unknown);
  } catch {
    return null;
  }
}

/** Longer than a line may be, so that all streams are cut, and marked, in one place. */
const LOG_MAX = 65_536;
const STACK_MAX = 32_768;
const CAUSES_MAX = 6;

function message(value: unknown): FromRunner | null {
  if (!isRecord(value)) return null;
  const { type } = value;
  if (type === 'ready') return readyOf(value);
  if (type === 'idle') return { type, busy: value['busy'] !== false };
  const claim = count(value['claim']);
  if (claim === null) return null;
  if (type === 'progress') {
    const fraction = value['fraction'];
    if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) return null;
    return { type, claim, fraction, message: text(value['message'], MESSAGE_MAX) };
  }
  if (type === 'log') {
    const level = LEVELS.find((known) => known === value['level']) ?? 'info';
    return { type, claim, level, message: text(value['message'], LOG_MAX) ?? '' };
  }
  if (type === 'event') {
    const name = text(value['name'], EVENT_NAME_MAX);
    const payloadJson = jsonText(value['payloadJson'], EVENT_PAYLOAD_MAX);
    return name === null || payloadJson === null ? null : { type, claim, name, payloadJson };
  }
  if (type === 'hook-failed') {
    const hook = HOOKS.find((known) => known === value['hook']);
    const error = errorOf(value['error'], 0);
    return hook && error ? { type, claim, hook, error } : null;
  }
  if (type === 'save') return saveOf(value, claim);
  const outcome = type === 'outcome' ? outcomeOf(value['outcome']) : null;
  if (!outcome) return null;
  const usage = { cpuMs: count(value['cpuMs']), peakRssBytes: count(value['peakRssBytes']) };
  return { type: 'outcome', claim, outcome, ...usage, spent: value['spent'] === true };
}

/** Sent by our own code before any job: a basic check is enough. */
function readyOf({ definitions, problems }: Record<string, unknown>): FromRunner | null {
  const listed = Array.isArray(definitions) && definitions.every((one) => isDefinition(one));
  const textsOnly = Array.isArray(problems) && problems.every((one) => typeof one === 'string');
  return listed && textsOnly ? { type: 'ready', definitions, problems } : null;
}

function isDefinition(value: unknown): value is DefinitionInfo {
  return isRecord(value) && typeof value['key'] === 'string' && count(value['version']) !== null;
}

function saveOf(value: Record<string, unknown>, claim: number): FromRunner | null {
  const seq = count(value['seq']);
  const step = value['step'] === null ? null : text(value['step'], STEP_NAME_MAX);
  const valueJson = jsonText(value['valueJson'], SAVED_MAX_BYTES);
  if (seq === null || valueJson === null || (step === null && value['step'] !== null)) return null;
  return { type: 'save', claim, seq, step, valueJson };
}

/** One JSON value as text, or null. */
function jsonText(value: unknown, max: number): string | null {
  if (typeof value !== 'string' || value.length > max) return null;
  JSON.parse(value);
  return value;
}

function outcomeOf(value: unknown): Outcome | null {
  if (!isRecord(value)) return null;
  if (value['kind'] === 'success') {
    const resultJson = jsonText(value['resultJson'], RESULT_MAX_BYTES);
    return resultJson === null ? null : { kind: 'success', resultJson };
  }
  if (value['kind'] === 'failure') {
    const error = errorOf(value['error'], 0);
    return error && { kind: 'failure', error, retryAfterMs: count(value['retryAfterMs']) };
  }
  const delayMs = count(value['delayMs']);
  if (value['kind'] !== 'snoozed' || delayMs === null || delayMs > SNOOZE_MS_MAX) return null;
  return { kind: 'snoozed', delayMs };
}

function errorOf(value: unknown, depth: number): JobError | null {
  if (!isRecord(value) || depth > CAUSES_MAX) return null;
  return {
    code: text(value['code'], 64) ?? 'HANDLER_ERROR',
    message: text(value['message'], MESSAGE_MAX) ?? '',
    stack: text(value['stack'], STACK_MAX),
    cause: errorOf(value['cause'], depth + 1),
  };
}

/** PostgreSQL text cannot hold NUL, and a lone surrogate is not valid text. */
function text(value: unknown, max: number): string | null {
  if (typeof value !== 'string') return null;
  return value.slice(0, max).replaceAll('\u0000', '\uFFFD').toWellFormed();
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(Math.round(value)) && value >= 0
    ? Math.round(value)
    : null;
}
