import {
  branded,
  type JobContext,
  type JobDefinition,
  NonRetryable,
} from '../core/definition/define.ts';
import { definitionInfo } from '../core/definition/check-definition.ts';
import {
  DELIVERY_DELAYS_MS,
  DELIVERY_MAX_ATTEMPTS,
  isDelivered,
  type Send,
  shouldPause,
  WEBHOOK_KEY,
} from '../core/webhook/webhook.ts';
import type { DeliveryParams } from '../core/webhook/webhook-event.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Db } from '../store/connection/db.ts';
import {
  type Endpoint,
  findEndpoint,
  noteDelivered,
  noteFailed,
  stopWebhook,
} from '../store/webhooks/webhook-health.ts';
import { compose } from './compose.ts';
import { send, type Sent, type SenderOptions } from './send.ts';
import { signedHeaders } from './sign.ts';
import type { TenantShare } from './tenant-share.ts';

/** Long enough for a send and the writes around it. */
const TIMEOUT_SECONDS = 60;
const SENDS_KEPT = 20;

export interface DeliveryOptions extends SenderOptions {
  db: Db;
  clock: Clock;
  /** By default a tenant may use all sends. */
  share?: TenantShare;
}

/** The delay of a delivery whose tenant has its share of sends in flight. */
const NO_ROOM_MS = 2_000;

/**
 * A delivery as a job, under the rules of every job: claimed, fenced, retried by `decide()`. What
 * was sent is its checkpoint, stored before the attempt has an outcome; so after the worker dies in
 * between, the next attempt sees that the event was sent, and sends nothing. If the worker dies
 * before the checkpoint, the event is sent again under the same id: at least once.
 *
 * It runs inside the worker: our own code, which only waits for the network and the database and
 * handles data of bounded size, so it cannot delay a heartbeat.
 */
export function deliveryJob(options: DeliveryOptions): JobDefinition {
  const policy = definitionInfo(
    {
      key: 'webhook',
      isolation: 'inline',
      maxAttempts: DELIVERY_MAX_ATTEMPTS,
      retry: { delaysMs: DELIVERY_DELAYS_MS, jitter: 0.1 },
      timeoutSeconds: TIMEOUT_SECONDS,
    },
    { paramsSchema: null },
  );
  return branded({
    info: { ...policy, key: WEBHOOK_KEY },
    schema: null,
    hooks: {},
    run: async (params: DeliveryParams, ctx) => await deliver(params, ctx, options),
  });
}

async function deliver(
  params: DeliveryParams,
  ctx: JobContext,
  options: DeliveryOptions,
): Promise<{ status: number | null }> {
  const before = sendsOf(ctx.lastCheckpoint);
  const arrived = before.find(isDelivered);
  if (arrived) return { status: arrived.status };
  const { db, clock } = options;
  const endpoint = await findEndpoint(db, ctx.jobId);
  if (!endpoint) throw new NonRetryable('the webhook was deleted');
  if (endpoint.status !== 'active' && !params.byHand) {
    throw new NonRetryable(`the webhook is ${endpoint.status}: send it again when it is active`);
  }
  const event =
    params.envelope ??
    (await ctx.step('event', async () => await compose(db, ctx.jobId, endpoint.tenant, params)));
  if (!event) throw new NonRetryable('the job was deleted before its event was sent');
  const leave = options.share ? options.share.take(endpoint.tenant) : () => undefined;
  // Frees the slot: receivers that hang could otherwise hold all of them.
  if (leave === null) return ctx.snooze(Math.round(NO_ROOM_MS * (1 + clock.random())));
  const body = JSON.stringify(event);
  const headers = signedHeaders(ctx.jobId, clock.now(), body, endpoint.secrets);
  const sending = send({ url: endpoint.url, headers, body }, options, ctx.abortSignal);
  const sent = await sending.finally(leave);
  await ctx.checkpoint([...before, sent.send].slice(-SENDS_KEPT));
  if (isDelivered(sent.send)) {
    await noteDelivered(db, endpoint.id);
    return { status: sent.send.status };
  }
  throw await setback(db, endpoint, sent);
}

/** Records a failure, pauses or disables the webhook if needed, and returns the error to throw. */
async function setback(db: Db, endpoint: Endpoint, sent: Sent): Promise<Error> {
  const { status } = sent.send;
  if (status === 410) {
    await stopWebhook(
      db,
      endpoint,
      'disabled',
      'the receiver answered 410: it wants no more events',
    );
    return new NonRetryable('the receiver answered 410; the webhook was disabled');
  }
  const streak = await noteFailed(db, endpoint.id);
  if (streak && shouldPause(streak)) {
    const why = `${streak.failures} sends in a row have failed, for more than a day`;
    const cure = 'set it to active when the receiver works again';
    await stopWebhook(db, endpoint, 'paused', `${why}; ${cure}`);
  }
  if (status === null) return new Error(sent.send.error ?? 'no answer', { cause: sent.cause });
  return refusal(status, sent.retryAfter);
}

/**
 * Any answer except 2xx and 410 is retried, because the receiver may be fixed. The status is part
 * of the error only where it carries a Retry-After (`core/failure/classify.ts`), because other
 * statuses would count as not retryable.
 */
function refusal(status: number, retryAfter: string | null): Error {
  const followed = status >= 300 && status <= 399 ? '; redirects are not followed' : '';
  const error = new Error(`the receiver answered ${status}${followed}`);
  if (status !== 429 && status < 500) return error;
  return Object.assign(error, { status, headers: { 'retry-after': retryAfter } });
}

function sendsOf(checkpoint: unknown): Send[] {
  return Array.isArray(checkpoint) ? (checkpoint as Send[]) : [];
}
