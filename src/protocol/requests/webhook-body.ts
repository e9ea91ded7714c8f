import type { z } from 'zod';
import { WEBHOOK_EVENTS, WEBHOOK_URL_MAX } from '../../core/webhook/webhook.ts';
import { closed, definitionKey, list, oneOf, text, whole, wholeInQuery } from '../fields.ts';
import { TAG_LENGTH_MAX } from './job-body.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './job-query.ts';

const FILTER_MAX = 100;
const OVERLAP_SECONDS_DEFAULT = 24 * 3_600;

const url = () =>
  text(WEBHOOK_URL_MAX).meta({
    description: 'Where events are sent to, by POST: a public http or https address.',
    examples: ['https://example.com/hooks'],
  });

const events = () =>
  list(oneOf('event', WEBHOOK_EVENTS).meta({ examples: ['job.failed'] }), 1, WEBHOOK_EVENTS.length)
    .transform((names) => [...new Set(names)])
    .describe('What to tell. job.finished is every terminal state.');

const fields = {
  description: text(500).nullable().optional().describe('A word for people.'),
  definitionKeys: list(definitionKey(), 1, FILTER_MAX)
    .nullable()
    .optional()
    .describe('Only of jobs of these definitions. Default null: of all.'),
  tags: list(text(TAG_LENGTH_MAX), 1, FILTER_MAX)
    .nullable()
    .optional()
    .describe('Only of jobs with one of these tags. Default null: of all.'),
};

/** What `POST /v1/webhooks` takes. */
export const WebhookBody = closed({ url: url(), events: events(), ...fields });

/** What `PATCH /v1/webhooks/{webhookId}` takes: what is not named stays as it is. */
export const WebhookPatch = closed({
  url: url().optional(),
  events: events().optional(),
  ...fields,
  status: oneOf('status', ['active', 'paused'])
    .optional()
    .describe('Stop it, or let it go on with a clean slate.'),
});

/** What `POST /v1/webhooks/{webhookId}/rotate` takes. */
export const RotateSecretBody = closed({
  overlapSeconds: whole(0, 30 * OVERLAP_SECONDS_DEFAULT)
    .default(OVERLAP_SECONDS_DEFAULT)
    .describe(`How long both secrets sign. Default ${OVERLAP_SECONDS_DEFAULT}, a day.`),
});

/** What `GET /v1/webhooks/{webhookId}/deliveries` can be asked. */
export const DeliveryQuery = closed({
  cursor: text(200).optional().describe('The nextCursor of the page before.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`How many a page holds at most. Default ${PAGE_DEFAULT}.`),
});

export type WebhookPatch = z.infer<typeof WebhookPatch>;
