import type { JobError } from '../../../../src/core/job/job.ts';
import type { EventView } from '../../../../src/core/views/history.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { plainText } from './log-tail.ts';
import { actorWords } from '../actor-words.ts';
import { clockTime } from '../moment.ts';

/** Payload of an event by type; custom events may contain anything. */
interface Payload {
  workerId?: string | null;
  message?: string | null;
  error?: Pick<JobError, 'code' | 'message'> | null;
  runAt?: string | null;
  mode?: string;
  hook?: string;
  status?: string;
  fraction?: number | null;
  by?: string | null;
}

const WORDS_LENGTH = 300;

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
      return [said.mode ? 'manually' : errorWords(said), runWords(said)].filter(Boolean).join(', ');
    case 'failed':
      return errorWords(said);
    case 'lease_lost':
    case 'interrupted':
      return short(said.message ?? '');
    case 'snoozed':
      return runWords(said);
    case 'hook':
      return [[said.hook, said.status].filter(Boolean).join(' '), errorWords(said)]
        .filter(Boolean)
        .join(': ');
    case 'progress':
      return progressWords(said);
    case 'cancel_requested':
      return said.by ? `by ${actorWords(said.by)}` : '';
    case 'created':
    case 'queued':
    case 'succeeded':
    case 'cancelled':
    case 'custom':
      return payload === null || payload === undefined ? '' : short(JSON.stringify(payload));
  }
}

function workerWords(workerId: string, workers: readonly WorkerView[]): string {
  const worker = workers.find((one) => one.workerId === workerId);
  return worker ? `${worker.host} (pid ${worker.pid})` : `worker ${workerId}`;
}

function errorWords({ error }: Payload): string {
  return error ? short(`${error.code} ${error.message.split('\n', 1)[0]}`) : '';
}

function runWords({ runAt }: Payload): string {
  return runAt ? `runs at ${clockTime(runAt)}` : '';
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
