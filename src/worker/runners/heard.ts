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

/** Longer than a line may be, so that the cut is made, and marked, in one place for all streams. */
const LOG_MAX = 65_536;
const STACK_MAX = 32_768;
const CAUSES_MAX = 6;

function message(said: unknown): FromRunner | null {
  if (!isRecord(said)) return null;
  const { type } = said;
  if (type === 'ready') return readyOf(said);
  if (type === 'idle') return { type, busy: said['busy'] !== false };
  const claim = count(said['claim']);
  if (claim === null) return null;
  if (type === 'progress') {
    const fraction = said['fraction'];
    if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) return null;
    return { type, claim, fraction, message: text(said['message'], MESSAGE_MAX) };
  }
  if (type === 'log') {
    const level = LEVELS.find((known) => known === said['level']) ?? 'info';
    return { type, claim, level, message: text(said['message'], LOG_MAX) ?? '' };
  }
  if (type === 'event') {
    const name = text(said['name'], EVENT_NAME_MAX);
    const payloadJson = jsonText(said['payloadJson'], EVENT_PAYLOAD_MAX);
    return name === null || payloadJson === null ? null : { type, claim, name, payloadJson };
  }
  if (type === 'hook-failed') {
    const hook = HOOKS.find((known) => known === said['hook']);
    const error = errorOf(said['error'], 0);
    return hook && error ? { type, claim, hook, error } : null;
  }
  if (type === 'save') return saveOf(said, claim);
  const outcome = type === 'outcome' ? outcomeOf(said['outcome']) : null;
  if (!outcome) return null;
  const usage = { cpuMs: count(said['cpuMs']), peakRssBytes: count(said['peakRssBytes']) };
  return { type: 'outcome', claim, outcome, ...usage, spent: said['spent'] === true };
}

/** It is said by our own code, before any job: enough to know that it is not somebody else's word. */
function readyOf({ definitions, problems }: Record<string, unknown>): FromRunner | null {
  const listed = Array.isArray(definitions) && definitions.every((one) => isDefinition(one));
  const told = Array.isArray(problems) && problems.every((one) => typeof one === 'string');
  return listed && told ? { type: 'ready', definitions, problems } : null;
}

function isDefinition(said: unknown): said is DefinitionInfo {
  return isRecord(said) && typeof said['key'] === 'string' && count(said['version']) !== null;
}

function saveOf(said: Record<string, unknown>, claim: number): FromRunner | null {
  const seq = count(said['seq']);
  const step = said['step'] === null ? null : text(said['step'], STEP_NAME_MAX);
  const valueJson = jsonText(said['valueJson'], SAVED_MAX_BYTES);
  if (seq === null || valueJson === null || (step === null && said['step'] !== null)) return null;
  return { type: 'save', claim, seq, step, valueJson };
}

/** One JSON value as text, or null. */
function jsonText(said: unknown, max: number): string | null {
  if (typeof said !== 'string' || said.length > max) return null;
  JSON.parse(said);
  return said;
}

function outcomeOf(said: unknown): Outcome | null {
  if (!isRecord(said)) return null;
  if (said['kind'] === 'success') {
    const resultJson = jsonText(said['resultJson'], RESULT_MAX_BYTES);
    return resultJson === null ? null : { kind: 'success', resultJson };
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
