import type { Message, Refused } from '../brokers/source.ts';
import type { JobRequest } from '../core/job/new-job.ts';
import { atOnce } from '../core/values/exact-json.ts';
import { traceparentOf } from '../core/values/trace-context.ts';
import { Refusal } from '../protocol/refusal.ts';
import { parseJob } from '../protocol/requests/parse-job.ts';
import { BODY_MAX_BYTES, JOB_LIMITS, readJson } from '../protocol/read-json.ts';
import { messageKey } from './message-key.ts';

/** How messages become jobs. */
export interface Mapping {
  tenant: string;
  /** Distinguishes the ids of this source from those of others. */
  source: string;
  /** Set: a message is the params of this definition. Null: it is a body of `POST /v1/jobs`. */
  definitionKey: string | null;
  /** The header with the id, instead of the id of the broker. */
  idHeader: string | null;
  /** Refuse messages without an id. */
  requireId: boolean;
}

export type Read = { ok: true; job: JobRequest; hasId: boolean } | ({ ok: false } & Refused);

/**
 * The job of a message, by the rules of `POST /v1/jobs`. Its idempotency key is that of the body, or
 * the id of the message, or its position in the broker. Without any of them it gets a `requestId`, so that a repeat by this process makes
 * no second job; a message that the broker sends again makes one.
 */
export function readMessage(message: Message, mapping: Mapping, newRequestId: () => string): Read {
  const { tenant, source, definitionKey, requireId } = mapping;
  try {
    const job = parseJob(bodyOf(message, definitionKey), tenant, undefined);
    const given = job.idempotencyKey ?? idOf(message, mapping);
    if (given === null && requireId) {
      return { ok: false, code: 'NO_MESSAGE_ID', detail: 'the message has no id' };
    }
    const id = given ?? message.position;
    const key = job.idempotencyKey ?? (id === null ? null : messageKey(source, id));
    const traceparent = traceparentOf(textOf(message.headers['traceparent']) ?? undefined);
    const requestId = key === null ? newRequestId() : null;
    const named = { ...job, idempotencyKey: key, requestId, traceparent };
    return { ok: true, job: named, hasId: key !== null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, code: error.code, detail: error.message };
  }
}

function bodyOf({ body }: Message, definitionKey: string | null): unknown {
  if (body.length > BODY_MAX_BYTES) {
    const detail = `the message has ${body.length} bytes, the limit is ${BODY_MAX_BYTES}`;
    throw new Refusal('PAYLOAD_TOO_LARGE', detail);
  }
  const value = atOnce(readJson(body, JOB_LIMITS));
  return definitionKey === null ? value : { definitionKey, params: value };
}

function idOf({ id, headers }: Message, { idHeader }: Mapping): string | null {
  if (idHeader === null) return id;
  const text = textOf(headers[idHeader]);
  return text === '' ? null : text;
}

/** Headers are text, numbers or bytes, depending on the producer. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return Buffer.isBuffer(value) ? value.toString() : null;
}
