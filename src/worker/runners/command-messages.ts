import { failureOf } from '../../core/failure/failure.ts';
import type { JobError } from '../../core/job/job.ts';
import { unknownName } from '../../core/values/nearest.ts';
import { piecesOf } from '../../core/logs/stream.ts';
import { utf8Length } from '../../core/job/params.ts';
import { isRecord } from '../../core/values/record.ts';
import { RESULT_MAX_BYTES } from '../../core/job/result.ts';
import { EVENT_NAME_MAX, EVENT_PAYLOAD_MAX, MESSAGE_MAX, STREAM_TEXT_MAX } from '../ipc.ts';

/** The messages of a program on file descriptor 3, a JSON document per line. */
export type CommandMessage =
  | { type: 'progress'; fraction: number; message: string | null }
  | { type: 'heartbeat' }
  | { type: 'event'; name: string; payloadJson: string }
  | { type: 'stream'; text: string }
  | { type: 'result'; json: string }
  | { type: 'result-too-large'; bytes: number }
  | { type: 'error'; error: JobError; retryAfterMs: number | null }
  /** An unparsable line: perhaps a result with a NaN. */
  | { type: 'unclear' };

export interface CommandLine {
  messages: CommandMessage[];
  /** One message for each part that is invalid and was left out. */
  problems: string[];
}

const FIELDS = [
  'progress',
  'message',
  'heartbeat',
  'event',
  'payload',
  'stream',
  'result',
  'error',
];
const ERROR_FIELDS = ['code', 'message', 'retryAfterMs'];
const CODE_SHAPE = /^[A-Za-z0-9_.:-]{1,64}$/;

/**
 * Parses a line. Programs write them by hand, so invalid parts are left out and reported in the
 * job's log. But no result and no error is lost: a program that reports an error in an invalid form
 * has failed anyway.
 */
export function commandLine(line: string, resultMaxBytes = RESULT_MAX_BYTES): CommandLine {
  const messages: CommandMessage[] = [];
  const problems: string[] = [];
  const fields = parsed(line);
  if (!isRecord(fields)) {
    return { messages: [{ type: 'unclear' }], problems: ['the line is not a JSON object'] };
  }
  const unknown = Object.keys(fields).filter((name) => !FIELDS.includes(name));
  for (const name of unknown) problems.push(unknownName('field', name, FIELDS));
  const take = (message: CommandMessage | string) =>
    typeof message === 'string' ? problems.push(message) : messages.push(message);
  if (Object.hasOwn(fields, 'progress')) take(progress(fields));
  if (Object.hasOwn(fields, 'heartbeat')) take(heartbeat(fields['heartbeat']));
  if (Object.hasOwn(fields, 'event')) take(event(fields));
  if (Object.hasOwn(fields, 'stream')) {
    const pieces = streamPieces(fields['stream']);
    if (typeof pieces === 'string') problems.push(pieces);
    else for (const text of pieces) messages.push({ type: 'stream', text });
  }
  if (Object.hasOwn(fields, 'result')) take(result(line, fields['result'], resultMaxBytes));
  if (Object.hasOwn(fields, 'error')) {
    const message = failure(fields['error']);
    take(message);
    if (typeof message === 'string') {
      const error = failureOf('HANDLER_ERROR', `the command reported an error, but ${message}`);
      take({ type: 'error', error, retryAfterMs: null });
    }
  }
  if (messages.length === 0 && problems.length === 0)
    problems.push('it has no "progress", "heartbeat", "event", "stream", "result" or "error"');
  if (unknown.length > 0 && unknown.length === Object.keys(fields).length)
    take({ type: 'unclear' });
  return { messages, problems };
}

function progress({
  progress: fraction,
  message = null,
}: Record<string, unknown>): CommandMessage | string {
  if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) {
    return '"progress" must be a number from 0 to 1';
  }
  if (message !== null && typeof message !== 'string') return '"message" must be a string';
  return { type: 'progress', fraction, message: message === null ? null : clean(message) };
}

function heartbeat(value: unknown): CommandMessage | string {
  return value === true ? { type: 'heartbeat' } : '"heartbeat" must be true';
}

function event({ event: name, payload = null }: Record<string, unknown>): CommandMessage | string {
  if (typeof name !== 'string' || name === '' || name.length > EVENT_NAME_MAX) {
    return `"event" must be a string of 1 to ${EVENT_NAME_MAX} characters`;
  }
  const payloadJson = JSON.stringify(payload);
  if (payloadJson.length > EVENT_PAYLOAD_MAX) {
    return `"payload" is limited to ${EVENT_PAYLOAD_MAX} characters of JSON`;
  }
  return { type: 'event', name: clean(name), payloadJson };
}

function streamPieces(value: unknown): string[] | string {
  if (typeof value !== 'string' || value === '') return '"stream" must be a text';
  return piecesOf(value.replaceAll('\u0000', '\uFFFD').toWellFormed(), STREAM_TEXT_MAX);
}

/** Other languages have numbers that JavaScript would round, so the result is kept as written. */
function result(line: string, value: unknown, maxBytes: number): CommandMessage {
  const written = /^\s*\{\s*"result"\s*:(.*)\}\s*$/s.exec(line)?.[1]?.trim();
  const asWritten = written !== undefined && parsed(written) !== undefined;
  const json = asWritten ? written : JSON.stringify(value);
  const bytes = utf8Length(json, maxBytes);
  return bytes > maxBytes ? { type: 'result-too-large', bytes } : { type: 'result', json };
}

function failure(fields: unknown): CommandMessage | string {
  if (!isRecord(fields)) return '"error" must be an object';
  const unknown = Object.keys(fields).find((name) => !ERROR_FIELDS.includes(name));
  if (unknown !== undefined) return unknownName('field of "error"', unknown, ERROR_FIELDS);
  const { code = 'HANDLER_ERROR', message = '', retryAfterMs = null } = fields;
  if (typeof code !== 'string' || !CODE_SHAPE.test(code)) {
    return '"code" must be 1 to 64 letters, digits and _ . : -';
  }
  if (typeof message !== 'string') return '"message" of "error" must be a string';
  if (retryAfterMs !== null && !isDelay(retryAfterMs)) {
    return '"retryAfterMs" must be a number of milliseconds';
  }
  return {
    type: 'error',
    error: { code, message: clean(message), stack: null, cause: null },
    retryAfterMs: retryAfterMs === null ? null : Math.round(retryAfterMs),
  };
}

/** Undefined when the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function clean(text: string): string {
  return text.slice(0, MESSAGE_MAX).replaceAll('\u0000', '\uFFFD').toWellFormed();
}

function isDelay(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
