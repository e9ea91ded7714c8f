import { z } from 'zod';
import {
  EVENTS_BY_HOOK,
  WEBHOOK_EVENTS,
  WEBHOOK_FORMATS,
  WEBHOOK_URL_MAX,
} from '../../core/webhook/webhook.ts';
import {
  closed,
  definitionKey,
  exampleBody,
  list,
  oneOf,
  text,
  whole,
  wholeInQuery,
} from '../fields.ts';
import { TAG_LENGTH_MAX } from './job-body.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './job-query.ts';

const FILTER_MAX = 100;
const OVERLAP_SECONDS_DEFAULT = 24 * 3_600;

const url = () =>
  text(WEBHOOK_URL_MAX).meta({
    description: 'URL that receives events by POST: a public http or https address.',
    examples: ['https://example.com/hooks'],
  });

const events = () =>
  list(event(), 1, WEBHOOK_EVENTS.length)
    .transform((names) => [...new Set(names)])
    .describe(
      'Event types. job.finished is every terminal state. The names of hooks are accepted, too: ' +
        'onStart, onSuccess, onFail and onEnd.',
    );

const event = () =>
  z
    .preprocess(eventOf, oneOf('event', WEBHOOK_EVENTS))
    .meta({ examples: ['job.failed'], type: 'string' });

function eventOf(name: unknown): unknown {
  const known: Readonly<Record<string, string>> = EVENTS_BY_HOOK;
  return typeof name === 'string' && Object.hasOwn(known, name) ? known[name] : name;
}

const format = () =>
  oneOf('format', WEBHOOK_FORMATS).describe(
    'What it sends: CloudEvents, or messages for the incoming webhook of a chat.',
  );

const fields = {
  description: text(500).nullable().optional().describe('Description.'),
  definitionKeys: list(definitionKey(), 1, FILTER_MAX)
    .nullable()
    .optional()
    .describe('Only jobs of these definitions. Default null: all.'),
  tags: list(text(TAG_LENGTH_MAX), 1, FILTER_MAX)
    .nullable()
    .optional()
    .describe('Only jobs with one of these tags. Default null: all.'),
};

/** Body of `POST /v1/webhooks`. */
export const WebhookBody = closed({
  url: url(),
  events: events(),
  format: format().default('cloudevents'),
  ...fields,
}).meta(exampleBody({ url: 'https://example.com/hooks', events: ['job.failed'] }));

/** Body of `PATCH /v1/webhooks/{webhookId}`; omitted fields stay unchanged. */
export const WebhookPatch = closed({
  url: url().optional(),
  events: events().optional(),
  format: format().optional(),
  ...fields,
  status: oneOf('status', ['active', 'paused'])
    .optional()
    .describe('Pause it, or resume it and reset its failures.'),
}).meta(exampleBody({ status: 'paused' }));

/** Body of `POST /v1/webhooks/{webhookId}/rotate`. */
export const RotateSecretBody = closed({
  overlapSeconds: whole(0, 30 * OVERLAP_SECONDS_DEFAULT)
    .default(OVERLAP_SECONDS_DEFAULT)
    .describe(`How long both secrets sign. Default ${OVERLAP_SECONDS_DEFAULT}, a day.`),
});

/** Query of `GET /v1/webhooks/{webhookId}/deliveries`. */
export const DeliveryQuery = closed({
  cursor: text(200).optional().describe('The nextCursor of the previous page.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Page size. Default ${PAGE_DEFAULT}.`),
});

export type WebhookPatch = z.infer<typeof WebhookPatch>;
