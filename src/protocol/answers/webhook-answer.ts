import { z } from 'zod';
import {
  DELIVERY_STATUSES,
  type DeliveryView,
  TEST_EVENT,
  WEBHOOK_EVENTS,
  WEBHOOK_FORMATS,
  WEBHOOK_STATUSES,
  type WebhookView,
} from '../../core/webhook/webhook.ts';

/** Webhooks as the API returns them: open objects, checked against the types of `core`. */
const Moment = z.iso.datetime();
const EXAMPLE = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

const webhookId = z
  .string()
  .describe('The id returned by POST /v1/webhooks.')
  .meta({ examples: [EXAMPLE] });

export const WebhookIdParams = z.object({ webhookId });
export const DeliveryIdParams = z.object({
  webhookId,
  deliveryId: z
    .string()
    .describe('The id of the delivery.')
    .meta({ examples: [EXAMPLE] }),
});

export const WebhookAnswer = z
  .looseObject({
    id: z.string(),
    tenant: z.string(),
    url: z.string(),
    format: z.enum(WEBHOOK_FORMATS).describe('What it sends.'),
    description: z.string().nullable(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    definitionKeys: z.array(z.string()).nullable().describe('Null: all definitions.'),
    tags: z.array(z.string()).nullable().describe('Null: any tags.'),
    status: z.enum(WEBHOOK_STATUSES).describe('Only an active webhook receives events.'),
    notice: z.string().nullable().describe('Why it is not active.'),
    failures: z.int().describe('Number of consecutive failures.'),
    failingSince: Moment.nullable(),
    lastError: z.string().nullable().describe('Why the last send failed.'),
    waitingEvents: z
      .object({ count: z.int(), isExact: z.boolean() })
      .nullable()
      .describe(
        'The events that a failing webhook has still to send; null while it works. isExact is false ' +
          'when there may be more.',
      ),
    previousSecretUntil: Moment.nullable().describe('The old secret also signs until then.'),
    createdAt: Moment,
    updatedAt: Moment,
  })
  .meta({
    id: 'Webhook',
    description: 'A webhook.',
  }) satisfies z.ZodType<WebhookView>;

const secret = z.string().describe('Secret to verify signatures, shown only once.');

export const MadeWebhookAnswer = z.looseObject({ id: z.string(), secret });
export const RotatedSecretAnswer = z.looseObject({
  id: z.string(),
  secret,
  previousSecretUntil: Moment.describe('The old secret also signs until then.'),
});
export const WebhooksAnswer = z.looseObject({ webhooks: z.array(WebhookAnswer) });

/** One try to send something. */
export const SendAnswer = z.looseObject({
  at: Moment,
  durationMs: z.int(),
  status: z
    .int()
    .nullable()
    .describe('HTTP status, or reply code of SMTP; null without a response.'),
  error: z.string().nullable().describe('Why there was no response.'),
  responseBody: z.string().nullable().describe('The beginning of the response.'),
  responseTruncated: z.boolean(),
});

const DeliveryAnswer = z
  .looseObject({
    id: z.string().describe('The webhook-id of every attempt.'),
    webhookId: z.string(),
    event: z.enum([...WEBHOOK_EVENTS, TEST_EVENT]),
    jobId: z.string().nullable(),
    status: z.enum(DELIVERY_STATUSES),
    redeliveryOf: z.string().nullable().describe('The delivery that this one repeats.'),
    request: z.unknown().describe('The body, a CloudEvent; null before the first attempt.'),
    attempts: z.array(SendAnswer),
    createdAt: Moment,
    nextAttemptAt: Moment.nullable(),
    finishedAt: Moment.nullable(),
  })
  .meta({
    id: 'Delivery',
    description: 'An event for a webhook and its delivery attempts.',
  }) satisfies z.ZodType<DeliveryView>;

export const DeliveryPageAnswer = z.looseObject({
  deliveries: z.array(DeliveryAnswer),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
});

export const DeliveryMadeAnswer = z.looseObject({
  deliveryId: z.string().describe('The id of the delivery.'),
});
