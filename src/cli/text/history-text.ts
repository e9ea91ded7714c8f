import type { JobAttempt, JobEvent } from '../../client/index.ts';
import { EVENT_TYPES } from '../../core/views/history.ts';
import { columns } from './columns.ts';
import { duration } from '../../core/values/duration.ts';
import { printableJson } from './printable.ts';
import { size } from './size.ts';

const ATTEMPT_HEADER = [
  'TRY',
  'WORKER',
  'STARTED',
  'TOOK',
  'EXIT',
  'MEMORY',
  'CPU',
  'OUTCOME',
  'ERROR',
];

/** A row for each attempt; a dash stands for what nobody measured. */
export function attemptRows(attempts: readonly JobAttempt[], widthMax: number): string[] {
  if (attempts.length === 0) return [];
  const rows = attempts.map((one) => [
    String(one.number),
    // The beginning of an id tells workers apart, and leaves room for the rest.
    one.workerId?.slice(0, 8) ?? '-',
    one.startedAt,
    one.durationMs === null ? 'running' : duration(one.durationMs),
    one.signal ?? String(one.exitCode ?? '-'),
    one.peakRssBytes === null ? '-' : size(one.peakRssBytes),
    one.cpuMs === null ? '-' : duration(one.cpuMs),
    one.outcome ?? '-',
    one.error?.code ?? '-',
  ]);
  return columns([ATTEMPT_HEADER, ...rows], widthMax);
}

/** The names of events differ in length, and a history is printed as it is read, so this is fixed. */
const TYPE_WIDTH = Math.max(...EVENT_TYPES.map((type) => type.length));

/** An event for people: when, what, in which attempt, and what there is to say about it. */
export function eventText({ at, type, attempt, payload }: JobEvent): string {
  const number = attempt === null ? '' : `#${attempt}`;
  const about = payload === null || payload === undefined ? '' : printableJson(brief(payload));
  return `${at} ${number.padEnd(3)} ${type.padEnd(TYPE_WIDTH)} ${about}`.trimEnd();
}

/** An error is told in a sentence here; its stack is in `show`, and in the JSON. */
function brief(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !('error' in payload)) return payload;
  const { code, message } = (payload.error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return payload;
  return { ...payload, error: `${code} ${typeof message === 'string' ? message : ''}`.trimEnd() };
}
