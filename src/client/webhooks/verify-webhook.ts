import { Webhook } from 'standardwebhooks';
import type { JobView } from '../../core/job/job.ts';
import type { CloudEvent } from '../../core/webhook/webhook-event.ts';

/** An event as a receiver gets it. For a test event the data is `{ webhookId }`. */
export type WebhookPayload<Data = JobView> = Omit<CloudEvent, 'data'> & { data: Data };

/** The request is not authentic, was changed, or is too old: ignore it, and answer 400 or 401. */
export class WebhookNotVerified extends Error {
  override name = 'WebhookNotVerified';
}

/** Request headers: `Headers`, or the plain object of Node and most frameworks. */
export type ReceivedHeaders = Headers | Record<string, string | readonly string[] | undefined>;

const NEEDED = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * Checks that a request is an authentic event of this webhook, unchanged and at most five minutes
 * old, and returns it. The payload is the raw body, before parsing. With several secrets one match
 * is enough, for rotations.
 */
export function verifyWebhook<Data = JobView>(
  payload: string | Uint8Array,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
): WebhookPayload<Data> {
  const text = typeof payload === 'string' ? payload : new TextDecoder().decode(payload);
  const sent = Object.fromEntries(NEEDED.map((name) => [name, valueOf(headers, name)]));
  let problem = 'no secret was given';
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    try {
      return new Webhook(one).verify(text, sent) as WebhookPayload<Data>;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  throw new WebhookNotVerified(problem);
}

function valueOf(headers: ReceivedHeaders, wanted: string): string {
  if (headers instanceof Headers) return headers.get(wanted) ?? '';
  const name = Object.keys(headers).find((one) => one.toLowerCase() === wanted);
  const value = name === undefined ? undefined : headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}
