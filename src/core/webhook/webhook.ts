import { CHATS } from './chat.ts';
import type { HookName } from '../views/history.ts';
import { HOUR_MS, MINUTE_MS } from '../values/duration.ts';

/**
 * A webhook sends the events of jobs to another server. Each subscribed event becomes a delivery, a
 * job of its own in a system queue. The statement that moves the job also makes the delivery, so
 * they commit together, and the delivery is retried like any job.
 */

export const WEBHOOK_EVENTS = [
  'job.started',
  'job.retrying',
  'job.succeeded',
  'job.failed',
  'job.cancelled',
  'job.finished', // Every terminal state.
  'alert.fired',
  'alert.resolved',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Other names of events: those of the hooks of a definition. */
export const EVENTS_BY_HOOK = {
  onStart: 'job.started',
  onSuccess: 'job.succeeded',
  onFail: 'job.failed',
  onEnd: 'job.finished',
} as const satisfies Record<HookName, WebhookEvent>;

/** What `POST /v1/webhooks/{id}/test` sends; not available for subscriptions. */
export const TEST_EVENT = 'webhook.test';
export type DeliveryEvent = WebhookEvent | typeof TEST_EVENT;

/** Reserved: definition keys begin with a letter or a digit. */
export const WEBHOOK_KEY = '$webhook';

/** The delays before retries of a delivery: increasing, over three days in all. */
export const DELIVERY_DELAYS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
export const DELIVERY_MAX_ATTEMPTS = DELIVERY_DELAYS_MS.length + 1;

/** `paused` by hand or after repeated failures; `disabled` when the receiver answered 410. */
export const WEBHOOK_STATUSES = ['active', 'paused', 'disabled'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

export const WEBHOOK_URL_MAX = 2_000;

/** What a webhook sends: events for programs, or messages for people in a chat. */
export const WEBHOOK_FORMATS = ['cloudevents', ...CHATS] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** A webhook as shown by the API, without its secret. */
export interface WebhookView {
  id: string;
  tenant: string;
  url: string;
  format: WebhookFormat;
  description: string | null;
  events: WebhookEvent[];
  /** Null: all definitions. */
  definitionKeys: string[] | null;
  /** Null: any tags; otherwise one matching tag is enough. */
  tags: string[] | null;
  status: WebhookStatus;
  /** Why it is not active. */
  notice: string | null;
  /** Consecutive failed sends, and since when. */
  failures: number;
  failingSince: string | null;
  /** Why the last send failed. */
  lastError: string | null;
  /** What it has still to send, counted while it fails; `isExact` is false at the bound. */
  waitingEvents: { count: number; isExact: boolean } | null;
  /** Until then the previous secret also signs. */
  previousSecretUntil: string | null;
  createdAt: string;
  updatedAt: string;
}

/** The settings of a webhook. */
export type WebhookSpec = Pick<
  WebhookView,
  'url' | 'format' | 'description' | 'events' | 'definitionKeys' | 'tags'
>;

export const DELIVERY_STATUSES = ['pending', 'retrying', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One send, recorded before or with the outcome of its attempt. */
export interface Send {
  at: string;
  durationMs: number;
  /** The status of the response; null when there was none. */
  status: number | null;
  /** Why there was no response. */
  error: string | null;
  /** The beginning of the response body, if it is text. */
  responseBody: string | null;
  responseTruncated: boolean;
}

/** What the job of a delivery returns. */
export interface DeliveryResult {
  status: number | null;
  /** The send, if it was the only one; otherwise all sends are in the checkpoint. */
  send?: Send;
}

export interface DeliveryView {
  /** The `webhook-id` of every send. */
  id: string;
  webhookId: string;
  event: DeliveryEvent;
  jobId: string | null;
  status: DeliveryStatus;
  /** The delivery that this one repeats. */
  redeliveryOf: string | null;
  /** What is sent; null before the first send. */
  request: unknown;
  attempts: Send[];
  createdAt: string;
  nextAttemptAt: string | null;
  finishedAt: string | null;
}

/** Only 2xx counts as delivered. */
export function isDelivered({ status }: Pick<Send, 'status'>): boolean {
  return status !== null && status >= 200 && status <= 299;
}

const PAUSE_AFTER_FAILURES = 5;
const PAUSE_AFTER_MS = 24 * HOUR_MS;

/**
 * Whether to pause the webhook. A receiver that is down for a night does not cause it, however many
 * events it misses; a whole day without a success does.
 */
export function shouldPause(streak: { failures: number; failingMs: number }): boolean {
  return streak.failures >= PAUSE_AFTER_FAILURES && streak.failingMs >= PAUSE_AFTER_MS;
}
