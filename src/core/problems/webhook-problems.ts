import { silenceWords } from '../alert/silence-words.ts';
import type { WebhookView } from '../webhook/webhook.ts';
import { timeSince } from '../values/duration.ts';
import { count, type Problem, type Seen } from './problem.ts';

/** A single failed send is retried within seconds; only a row of them is a problem. */
const FAILURES_MIN = 3;

/** Webhooks whose receiver or broker does not take events, and those that were stopped for it. */
export function failingWebhooks({ webhooks, alerts }: Seen, now: Date): Problem[] {
  return webhooks
    .filter(({ status, failures }) => status !== 'paused' && failures >= FAILURES_MIN)
    .map((webhook) => ({
      kind: 'webhook',
      about: null,
      text: `Webhook ${nameOf(webhook)} ${since(webhook, now)}${why(webhook)}${waiting(webhook)}${silenced(webhook, alerts, now)}.`,
      owner: null,
      target: { at: 'webhook', webhookId: webhook.id },
      alerts: [{ rule: 'webhook-failing', about: webhook.id }],
    }));
}

/** The line stays while its alert is silenced, and says so. */
function silenced({ id }: WebhookView, alerts: Seen['alerts'], now: Date): string {
  const own = alerts.find(({ rule, webhookId }) => rule === 'webhook-failing' && webhookId === id);
  return own?.silenced ? ` (${silenceWords(own.silenced, now)})` : '';
}

/** Whether the webhook is active, and its last send failed. */
export function isFailing({ status, failures }: Pick<WebhookView, 'status' | 'failures'>): boolean {
  return status === 'active' && failures > 0;
}

/** The URL without its query, which may be long, and what the webhook is for. */
function nameOf({ url, description }: WebhookView): string {
  const address = url.replace(/[?#].*$/, '');
  return description ? `${address} (${description})` : address;
}

function since({ failingSince }: WebhookView, now: Date): string {
  return failingSince === null ? 'fails' : `has failed for ${timeSince(failingSince, now)}`;
}

function why({ lastError, notice }: WebhookView): string {
  const words = notice ?? lastError;
  return words === null ? '' : `: ${words}`;
}

function waiting({ waitingEvents }: WebhookView): string {
  if (waitingEvents === null || waitingEvents.count === 0) return '';
  const { count: events, isExact } = waitingEvents;
  if (!isExact) return `, ${events.toLocaleString('en')}+ events wait`;
  return `, ${count(events, 'event')} ${events === 1 ? 'waits' : 'wait'}`;
}
