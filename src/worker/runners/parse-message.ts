import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { CHILD_NAME_MAX, type ChildRequest, SPAWN_MAX } from '../../core/dependency/children.ts';
import type { FailedStep, JobError } from '../../core/job/job.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import { isReservedStep, isServerStep, isSignalName, WAIT_MS_MAX } from '../../core/job/signal.ts';
import { isRecord } from '../../core/values/record.ts';
import { RESULT_MAX_BYTES } from '../../core/job/result.ts';
import { HOOKS, LEVELS } from '../../core/views/history.ts';
import {
  type CodeFiles,
  EVENT_NAME_MAX,
  EVENT_PAYLOAD_MAX,
  type FromRunner,
  MESSAGE_MAX,
  SAVED_MAX_BYTES,
  SNOOZE_MS_MAX,
  STEP_MS_MAX,
  STEP_NAME_MAX,
  STREAM_TEXT_MAX,
} from '../ipc.ts';

/**
 * Validates a message of a runner, which may come from user code: it is rebuilt from known fields.
 * Above all, a result must be exactly one JSON value, because the results of many jobs are written
 * in one statement and two values would shift the others.
 */
export function parseMessage(line: string, resultMaxBytes?: number): FromRunner | null {
  try {
    return message(JSON.parse(line) as unknown, resultMaxBytes) ?? null;
  } catch {
    return null;
  }
}

/** Longer than a line may be, so that all streams are cut, and marked, in one place. */
const LOG_MAX = 65_536;
const STACK_MAX = 32_768;
const CAUSES_MAX = 6;

/** Undefined for an unknown type; the compiler checks that every known one has a case. */
function message(value: unknown, resultMaxBytes?: number): FromRunner | null {
  if (!isRecord(value)) return null;
  const type = value['type'] as FromRunner['type'];
  if (type === 'ready') return readyOf(value);
  if (type === 'idle') return { type, busy: value['busy'] !== false };
  const claim = count(value['claim']);
  if (claim === null) return null;
  switch (type) {
    case 'progress': {
      const fraction = value['fraction'];
      if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) return null;
      return { type, claim, fraction, message: text(value['message'], MESSAGE_MAX) };
    }
    case 'log': {
      const level = LEVELS.find((known) => known === value['level']) ?? 'info';
      return { type, claim, level, message: text(value['message'], LOG_MAX) ?? '' };
    }
    case 'heartbeat':
      return { type, claim };
    case 'event': {
      const name = text(value['name'], EVENT_NAME_MAX);
      const payloadJson = jsonText(value['payloadJson'], EVENT_PAYLOAD_MAX);
      return name === null || payloadJson === null ? null : { type, claim, name, payloadJson };
    }
    case 'stream': {
      const streamed = text(value['text'], STREAM_TEXT_MAX);
      return streamed === null ? null : { type, claim, text: streamed };
    }
    case 'hook-failed': {
      const hook = HOOKS.find((known) => known === value['hook']);
      const error = errorOf(value['error'], 0);
      return hook && error ? { type, claim, hook, error } : null;
    }
    case 'step': {
      const name = text(value['name'], STEP_NAME_MAX);
      if (name === null || isReservedStep(name)) return null;
      return { type, claim, name, state: value['state'] === 'failed' ? 'failed' : 'started' };
    }
    case 'save':
      return saveOf(value, claim);
    case 'spawn':
      return spawnOf(value, claim);
    case 'outcome': {
      const outcome = outcomeOf(value['outcome'], resultMaxBytes);
      const usage = { cpuMs: count(value['cpuMs']), peakRssBytes: count(value['peakRssBytes']) };
      return outcome && { type, claim, outcome, ...usage, spent: value['spent'] === true };
    }
  }
}

/** Sent by our own code before any job: a basic check is enough. */
function readyOf({ definitions, problems, files }: Record<string, unknown>): FromRunner | null {
  const listed = Array.isArray(definitions) && definitions.every((one) => isDefinition(one));
  const textsOnly = Array.isArray(problems) && problems.every((one) => typeof one === 'string');
  if (!listed || !textsOnly) return null;
  return { type: 'ready', definitions, problems, ...(areCodeFiles(files) && { files }) };
}

function areCodeFiles(value: unknown): value is CodeFiles {
  const isFile = (one: unknown) =>
    isRecord(one) && typeof one['state'] === 'string' && typeof one['source'] === 'string';
  return isRecord(value) && Object.values(value).every(isFile);
}

function isDefinition(value: unknown): value is DefinitionInfo {
  return isRecord(value) && typeof value['key'] === 'string' && count(value['version']) !== null;
}

function saveOf(value: Record<string, unknown>, claim: number): FromRunner | null {
  const seq = count(value['seq']);
  const step = value['step'] === null ? null : text(value['step'], STEP_NAME_MAX);
  const valueJson = jsonText(value['valueJson'], SAVED_MAX_BYTES);
  if (seq === null || valueJson === null || (step === null && value['step'] !== null)) return null;
  if (step !== null && isServerStep(step)) return null;
  const ranMs = step === null ? null : count(value['durationMs']);
  const durationMs = ranMs === null ? null : Math.min(ranMs, STEP_MS_MAX);
  return { type: 'save', claim, seq, step, valueJson, durationMs };
}

function spawnOf({ seq, children }: Record<string, unknown>, claim: number): FromRunner | null {
  const of = count(seq);
  if (of === null || !Array.isArray(children)) return null;
  if (children.length === 0 || children.length > SPAWN_MAX) return null;
  const asked = children.map((child: unknown) => childOf(child));
  if (!asked.every((child) => child !== null)) return null;
  return { type: 'spawn', claim, seq: of, children: asked };
}

/** The server validates the job as it does those of any caller. */
function childOf(value: unknown): ChildRequest | null {
  const name = isRecord(value) ? text(value['name'], CHILD_NAME_MAX) : null;
  const job = isRecord(value) ? value['job'] : null;
  return name && isRecord(job) ? { name, job } : null;
}

/** One JSON value as text, or null. */
function jsonText(value: unknown, max: number): string | null {
  if (typeof value !== 'string' || value.length > max) return null;
  JSON.parse(value);
  return value;
}

/** An outcome of user code or of another program. Throws for text that is not JSON. */
export function outcomeOf(value: unknown, resultMaxBytes = RESULT_MAX_BYTES): Outcome | null {
  if (!isRecord(value)) return null;
  if (value['kind'] === 'success') {
    const resultJson = jsonText(value['resultJson'], resultMaxBytes);
    return resultJson === null ? null : { kind: 'success', resultJson };
  }
  if (value['kind'] === 'failure') {
    const error = errorOf(value['error'], 0);
    return error && { kind: 'failure', error, retryAfterMs: count(value['retryAfterMs']) };
  }
  if (value['kind'] === 'suspended' && value['children'] === true) {
    return { kind: 'suspended', children: true };
  }
  if (value['kind'] === 'suspended') {
    const timeoutMs = count(value['timeoutMs']);
    const signal = value['signal'];
    if (!isSignalName(signal) || timeoutMs === null || timeoutMs > WAIT_MS_MAX) return null;
    return { kind: 'suspended', signal, timeoutMs };
  }
  const delayMs = count(value['delayMs']);
  if (value['kind'] !== 'snoozed' || delayMs === null || delayMs > SNOOZE_MS_MAX) return null;
  return { kind: 'snoozed', delayMs, ...(value['sleep'] === true && { sleep: true as const }) };
}

function errorOf(value: unknown, depth: number): JobError | null {
  if (!isRecord(value) || depth > CAUSES_MAX) return null;
  const step = depth === 0 ? failedStepOf(value['step']) : null;
  return {
    code: text(value['code'], 64) ?? 'HANDLER_ERROR',
    message: text(value['message'], MESSAGE_MAX) ?? '',
    stack: text(value['stack'], STACK_MAX),
    cause: errorOf(value['cause'], depth + 1),
    ...(step && { step }),
  };
}

function failedStepOf(value: unknown): FailedStep | null {
  if (!isRecord(value)) return null;
  const name = text(value['name'], STEP_NAME_MAX);
  const durationMs = count(value['durationMs']);
  const untilEndMs = count(value['untilEndMs']);
  if (name === null || durationMs === null || untilEndMs === null) return null;
  return { name, durationMs, untilEndMs };
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
