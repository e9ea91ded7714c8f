import type { JobError } from '../../../../src/core/job/job.ts';
import type { EventView } from '../../../../src/core/views/history.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { plainText } from './log-tail.ts';
import { actorWords } from '../../../../src/core/identity/actor.ts';
import { momentWithMs } from '../moment.ts';

/** Payload of an event by type; custom events may contain anything. */
interface Payload {
  workerId?: string | null;
  message?: string | null;
  error?: Pick<JobError, 'code' | 'message'> | null;
  runAt?: string | null;
  signal?: string | null;
  jobs?: string | null;
  sleep?: boolean;
  mode?: string;
  hook?: string;
  status?: string;
  fraction?: number | null;
  step?: string;
  state?: string;
  by?: string | null;
  type?: string;
  payload?: unknown;
}

const WORDS_LENGTH = 300;

/** The name of an event; that of the job for an event that the job emitted. */
export function eventTitle({ type, payload }: Pick<EventView, 'type' | 'payload'>): string {
  const said = isObject(payload) ? (payload as Payload) : {};
  if (type === 'custom' && typeof said.type === 'string') return plainText(said.type);
  return type.replaceAll('_', ' ');
}

/** Details of an event, without stacks. */
export function eventWords(
  { type, payload }: Pick<EventView, 'type' | 'payload'>,
  workers: readonly WorkerView[],
): string {
  const said = isObject(payload) ? (payload as Payload) : {};
  switch (type) {
    case 'started':
      return said.workerId ? `by ${workerWords(said.workerId, workers)}` : '';
    case 'retry_scheduled':
      return [said.mode ? 'manually' : codeWords(said), runWords(said)].filter(Boolean).join(', ');
    case 'failed':
      return codeWords(said);
    case 'lease_lost':
    case 'interrupted':
      return short(said.message ?? '');
    case 'snoozed':
      return [said.sleep ? 'sleeps (ctx.sleep)' : '', runWords(said)].filter(Boolean).join(', ');
    case 'suspended':
      if (said.jobs) return `waits for its ${said.jobs}`;
      return said.signal ? `waits for the signal ${said.signal}` : '';
    case 'signal':
      return [said.signal, said.by ? `by ${actorWords(said.by)}` : ''].filter(Boolean).join(' ');
    case 'signal_rejected':
      return [said.signal, short(said.message ?? '')].filter(Boolean).join(': ');
    case 'hook':
      return [[said.hook, said.status].filter(Boolean).join(' '), errorWords(said)]
        .filter(Boolean)
        .join(': ');
    case 'step':
      return short([said.step, said.state].filter(Boolean).join(' '));
    case 'progress':
      return progressWords(said);
    case 'cancel_requested':
      return said.by ? `by ${actorWords(said.by)}` : '';
    case 'created':
    case 'queued':
    case 'succeeded':
    case 'cancelled':
      return byWords(payload);
    case 'custom':
      return said.type === undefined ? jsonWords(payload) : jsonWords(said.payload);
  }
}

/** Who did it, then the rest. */
function byWords(payload: unknown): string {
  if (!isObject(payload) || !('by' in payload)) return jsonWords(payload);
  const { by, ...rest } = payload as Payload;
  const more = Object.keys(rest).length === 0 ? '' : jsonWords(rest);
  return [by ? `by ${actorWords(by)}` : '', more].filter(Boolean).join(' ');
}

function jsonWords(value: unknown): string {
  return value === null || value === undefined ? '' : short(JSON.stringify(value));
}

function workerWords(workerId: string, workers: readonly WorkerView[]): string {
  const worker = workers.find((one) => one.workerId === workerId);
  return worker ? `worker ${worker.host} (pid ${worker.pid})` : `worker ${workerId}`;
}

/** The attempts and the panel of the error have the message. */
function codeWords({ error }: Payload): string {
  return error?.code ?? '';
}

function errorWords({ error }: Payload): string {
  return error ? short(`${error.code} ${error.message.split('\n', 1)[0]}`) : '';
}

function runWords({ runAt }: Payload): string {
  return runAt ? `runs at ${momentWithMs(runAt)}` : '';
}

function progressWords({ fraction, message }: Payload): string {
  const share = typeof fraction === 'number' ? `${Math.floor(fraction * 100)} %` : '';
  return [share, short(message ?? '')].filter(Boolean).join(' · ');
}

function short(text: string): string {
  const plain = plainText(text);
  return plain.length > WORDS_LENGTH ? `${plain.slice(0, WORDS_LENGTH)}…` : plain;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
