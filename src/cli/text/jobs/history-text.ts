import type { JobAttempt, JobEvent, WorkerInfo } from '../../../client/index.ts';
import { workerName } from '../../../core/queue/worker.ts';
import { EVENT_TYPES } from '../../../core/views/history.ts';
import { shortId } from '../../../core/job/short-id.ts';
import { clip, columns } from '../columns.ts';
import { duration } from '../../../core/values/duration.ts';
import { isRecord } from '../../../core/values/record.ts';
import { actorWords } from '../../../core/identity/actor.ts';
import { printable, printableJson } from '../../../core/values/printable.ts';
import { size } from '../size.ts';

const ATTEMPT_HEADER = [
  'TRY',
  'VERSION',
  'WORKER',
  'STARTED',
  'TOOK',
  'EXIT',
  'MEMORY',
  'CPU',
  'OUTCOME',
  'ERROR',
];

/** The last columns say most. */
const HOST_WIDTH_MAX = 24;

/** One row per attempt; a dash means not measured. */
export function attemptRows(
  attempts: readonly JobAttempt[],
  workers: readonly WorkerInfo[],
  widthMax: number,
): string[] {
  if (attempts.length === 0) return [];
  const rows = attempts.map((one) => [
    String(one.number),
    String(one.definitionVersion),
    one.workerId === null ? '-' : workerCell(one.workerId, workers),
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

/** The id of a worker that is no longer known. */
function workerCell(id: string, workers: readonly WorkerInfo[]): string {
  const worker = workers.find(({ workerId }) => workerId === id);
  if (!worker) return shortId(id);
  return workerName({ ...worker, host: clip(worker.host, HOST_WIDTH_MAX) });
}

/** Fixed width, because events are printed as they are read. */
const TYPE_WIDTH = Math.max(...EVENT_TYPES.map((type) => type.length));

/** One line per event: time, attempt, type, payload. */
export function eventText({ at, type, attempt, payload }: JobEvent): string {
  const number = attempt === null ? '' : `#${attempt}`;
  const about = type === 'snoozed' ? ofSnooze(payload) : aboutOf(payload);
  return `${at} ${number.padEnd(3)} ${type.padEnd(TYPE_WIDTH)} ${about}`.trimEnd();
}

function ofSnooze(payload: unknown): string {
  if (!isRecord(payload) || payload['sleep'] !== true) return aboutOf(payload);
  return printable(`sleeps (ctx.sleep) until ${String(payload['runAt'])}`);
}

function aboutOf(payload: unknown): string {
  if (payload === null || payload === undefined) return '';
  // Alone, the actor is shown as in the dashboard.
  if (isRecord(payload) && typeof payload['by'] === 'string' && Object.keys(payload).length === 1) {
    return printable(`by ${actorWords(payload['by'])}`);
  }
  return printableJson(brief(payload));
}

/** Shortens an error to one line; `show` and --json contain the stack. */
function brief(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !('error' in payload)) return payload;
  const { code, message } = (payload.error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return payload;
  return { ...payload, error: `${code} ${typeof message === 'string' ? message : ''}`.trimEnd() };
}
