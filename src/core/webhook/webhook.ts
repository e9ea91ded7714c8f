import { HOUR_MS, MINUTE_MS } from '../values/duration.ts';

/**
 * A webhook tells somebody else's server what becomes of jobs. Each event that it subscribed to becomes
 * a delivery, which is a small job of its own in a queue of the system: the statement that moves the job
 * makes it, so that neither is there without the other, and it is retried like any job.
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

/** What `POST /v1/webhooks/{id}/test` sends; nobody can subscribe to it. */
export const TEST_EVENT = 'webhook.test';
export type DeliveryEvent = WebhookEvent | typeof TEST_EVENT;

/** No definition can have such a key: keys begin with a letter or a digit. */
export const WEBHOOK_KEY = '$webhook';

/** When a delivery is tried again: soon at first, then ever more slowly, over three days in all. */
export const DELIVERY_DELAYS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
export const DELIVERY_MAX_ATTEMPTS = DELIVERY_DELAYS_MS.length + 1;

/** `paused` is by hand or by repeated failure, `disabled` by the receiver, who answered 410. */
export const WEBHOOK_STATUSES = ['active', 'paused', 'disabled'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

export const WEBHOOK_URL_MAX = 2_000;

/** A webhook as the outside sees it. Its secret is not part of it. */
export interface WebhookView {
  id: string;
  tenant: string;
  url: string;
  description: string | null;
  events: WebhookEvent[];
  /** Null: of all definitions. */
  definitionKeys: string[] | null;
  /** Null: whatever its tags; otherwise one of them is enough. */
  tags: string[] | null;
  status: WebhookStatus;
  /** Why it is not active. */
  notice: string | null;
  /** How many sends in a row have failed, and since when. */
  failures: number;
  failingSince: string | null;
  /** Until then the secret before the last rotation signs as well. */
  previousSecretUntil: string | null;
  createdAt: string;
  updatedAt: string;
}

/** What people decide about a webhook. */
export type WebhookSpec = Pick<
  WebhookView,
  'url' | 'description' | 'events' | 'definitionKeys' | 'tags'
>;

export const DELIVERY_STATUSES = ['pending', 'retrying', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One try, as it is recorded before the outcome of its attempt. */
export interface Send {
  at: string;
  durationMs: number;
  /** What the receiver answered; null when there was no answer. */
  status: number | null;
  /** Why there was none. */
  error: string | null;
  /** The beginning of the answer, if it is text. */
  responseBody: string | null;
  responseTruncated: boolean;
}

export interface DeliveryView {
  /** The `webhook-id` of every send. */
  id: string;
  webhookId: string;
  event: DeliveryEvent;
  jobId: string | null;
  status: DeliveryStatus;
  /** The delivery that was sent again by this one. */
  redeliveryOf: string | null;
  /** What is sent; null until the first try. */
  request: unknown;
  attempts: Send[];
  createdAt: string;
  nextAttemptAt: string | null;
  finishedAt: string | null;
}

/** Only 2xx says that the event has arrived. */
export function isDelivered({ status }: Pick<Send, 'status'>): boolean {
  return status !== null && status >= 200 && status <= 299;
}

const PAUSE_AFTER_FAILURES = 5;
const PAUSE_AFTER_MS = 24 * HOUR_MS;

/**
 * Whether to stop trying. A receiver that is down for a night is no reason, however many events it
 * misses meanwhile; one that has answered nothing well for a whole day is.
 */
export function shouldPause(streak: { failures: number; failingMs: number }): boolean {
  return streak.failures >= PAUSE_AFTER_FAILURES && streak.failingMs >= PAUSE_AFTER_MS;
}
