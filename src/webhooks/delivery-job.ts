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
  type DeliveryResult,
  isDelivered,
  type Send,
  shouldPause,
  WEBHOOK_KEY,
  type WebhookFormat,
} from '../core/webhook/webhook.ts';
import { brokerIn, routingKeyOf } from '../core/webhook/broker-target.ts';
import { chatEvent } from '../core/webhook/chat-event.ts';
import type { CloudEvent, DeliveryParams } from '../core/webhook/webhook-event.ts';
import { Publishers } from '../brokers/publishers.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Db } from '../store/connection/db.ts';
import {
  type Endpoint,
  noteDelivered,
  noteFailed,
  stopWebhook,
} from '../store/webhooks/webhook-health.ts';
import { answerError } from './answer-error.ts';
import { compose } from './compose.ts';
import { DeliveryReads } from './delivery-reads.ts';
import { Gate } from './gate.ts';
import { publish } from './publish.ts';
import { RedactPaths } from './redact-paths.ts';
import { send, type Sent, type SenderOptions } from './send.ts';
import { signedHeaders } from './sign.ts';
import type { TenantShare } from './tenant-share.ts';

/** Long enough for a send and the writes around it. */
const TIMEOUT_SECONDS = 60;
const SENDS_KEPT = 20;

export interface DeliveryOptions extends SenderOptions {
  db: Db;
  clock: Clock;
  /** Default: no brokers. */
  publishers?: Publishers;
  /** By default a tenant may use all sends. */
  share?: TenantShare;
}

/** What the deliveries of a worker share. */
interface Shared {
  options: DeliveryOptions;
  reads: DeliveryReads;
  gate: Gate;
  redactPaths: RedactPaths;
}

/** Failures that are recorded at the same time: less than half of a worker's connections. */
const AT_A_TIME = 4;

/** The delay of a delivery whose tenant has its share of sends in flight. */
const NO_ROOM_MS = 2_000;

/**
 * A delivery as a job, under the rules of every job: claimed, fenced, retried by `decide()`. What was
 * answered is stored with the end of the attempt if the first send arrived, else as its checkpoint before
 * the attempt has an outcome. So an attempt after that sees that the event was sent, and sends nothing. If
 * the worker dies before, the event is sent again under the same id and with the same body: at least once.
 *
 * Deliveries that run at the same time share their statements (`delivery-reads.ts`, and the worker's for
 * steps).
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
  const { db, clock } = options;
  const shared = {
    options,
    reads: new DeliveryReads(db),
    gate: new Gate(AT_A_TIME),
    redactPaths: new RedactPaths(db, clock),
  };
  return branded({
    info: { ...policy, key: WEBHOOK_KEY },
    schema: null,
    hooks: {},
    run: async (params: DeliveryParams, ctx) => await deliver(params, ctx, shared),
  });
}

async function deliver(
  params: DeliveryParams,
  ctx: JobContext,
  shared: Shared,
): Promise<DeliveryResult> {
  const arrived = sendsOf(ctx.lastCheckpoint).find(isDelivered);
  if (arrived) return { status: arrived.status };
  const { clock, share } = shared.options;
  const leave = share ? await share.take(ctx.tenant) : () => undefined;
  // Frees the slot: receivers that hang could otherwise hold all of them.
  if (leave === null) return ctx.snooze(Math.round(NO_ROOM_MS * (1 + clock.random())));
  try {
    return await deliverNow(params, ctx, shared);
  } finally {
    leave();
  }
}

async function deliverNow(
  params: DeliveryParams,
  ctx: JobContext,
  shared: Shared,
): Promise<DeliveryResult> {
  const before = sendsOf(ctx.lastCheckpoint);
  const { options, gate } = shared;
  const { endpoint, event } = await prepare(params, ctx, shared);
  const sent = await sendEvent(params, ctx, endpoint, event, options);
  const { status } = sent.send;
  const arrived = isDelivered(sent.send);
  if (arrived && before.length === 0 && endpoint.failures === 0) return { status, send: sent.send };
  await ctx.checkpoint([...before, sent.send].slice(-SENDS_KEPT));
  return await gate.through(async () => {
    if (!arrived) throw await failureOf(options.db, endpoint, sent);
    if (endpoint.failures > 0) await noteDelivered(options.db, endpoint.id);
    return { status };
  });
}

/** By HTTP, or to a broker of the operator. */
async function sendEvent(
  params: DeliveryParams,
  ctx: JobContext,
  { url, format, secrets }: Endpoint,
  event: CloudEvent,
  options: DeliveryOptions,
): Promise<Sent> {
  const body = JSON.stringify(bodyOf(format, event));
  const contentType = contentTypeOf(format);
  const signed = signedHeaders(ctx.jobId, options.clock.now(), body, secrets);
  const broker = brokerIn(url);
  if (broker === null) {
    const headers = { 'content-type': contentType, ...signed };
    return await send({ url, headers, body }, options, ctx.abortSignal);
  }
  const routingKey = routingKeyOf(params.event, event);
  const { subject, type } = event;
  const about = { id: ctx.jobId, subject, routingKey, type, contentType };
  const { clock, publishers = new Publishers() } = options;
  const message = { ...about, headers: signed, body };
  return await publish(broker, message, { clock, publishers }, ctx.abortSignal);
}

function bodyOf(format: WebhookFormat, event: CloudEvent): object {
  return format === 'cloudevents' ? event : chatEvent(format, event);
}

function contentTypeOf(format: WebhookFormat): string {
  return format === 'cloudevents' ? 'application/cloudevents+json' : 'application/json';
}

/** The receiver and the body, which is stored: a retry repeats it exactly. */
async function prepare(
  params: DeliveryParams,
  ctx: JobContext,
  { reads, redactPaths }: Shared,
): Promise<{ endpoint: Endpoint; event: CloudEvent }> {
  const endpoint = await reads.endpoint(ctx.jobId);
  if (!endpoint) throw new NonRetryable('the webhook was deleted');
  if (endpoint.status !== 'active' && !params.byHand) {
    throw new NonRetryable(`the webhook is ${endpoint.status}: send it again when it is active`);
  }
  const { tenant } = endpoint;
  const event =
    params.envelope ??
    (await ctx.step(
      'event',
      async () => await compose(reads, redactPaths, ctx.jobId, tenant, params),
    ));
  if (!event) throw new NonRetryable('the job was deleted before its event was sent');
  return { endpoint, event };
}

/** Records a failure, pauses or disables the webhook if needed, and returns the error to throw. */
async function failureOf(db: Db, endpoint: Endpoint, sent: Sent): Promise<Error> {
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
  const error = answerError(sent);
  const streak = await noteFailed(db, endpoint.id, error.message);
  if (streak && shouldPause(streak)) {
    const why = `${streak.failures} sends in a row have failed, for more than a day`;
    const cure = 'set it to active when the receiver works again';
    await stopWebhook(db, endpoint, 'paused', `${why}; ${cure}`);
  }
  return error;
}

function sendsOf(checkpoint: unknown): Send[] {
  return Array.isArray(checkpoint) ? (checkpoint as Send[]) : [];
}
