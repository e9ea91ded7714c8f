import { z } from 'zod';
import {
  DELIVERY_STATUSES,
  type DeliveryView,
  TEST_EVENT,
  WEBHOOK_EVENTS,
  WEBHOOK_STATUSES,
  type WebhookView,
} from '../../core/webhook/webhook.ts';

/** Webhooks as the API answers them: open objects, held to the words of `core`. */
const Moment = z.iso.datetime();
const EXAMPLE = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

const webhookId = z
  .string()
  .describe('The id that POST /v1/webhooks answered.')
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
    description: z.string().nullable(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    definitionKeys: z.array(z.string()).nullable().describe('Null: all.'),
    tags: z.array(z.string()).nullable().describe('Null: whatever its tags.'),
    status: z.enum(WEBHOOK_STATUSES).describe('Only an active one is told anything.'),
    notice: z.string().nullable().describe('Why it is not active.'),
    failures: z.int().describe('How many sends in a row have failed.'),
    failingSince: Moment.nullable(),
    previousSecretUntil: Moment.nullable().describe('Until then the old secret signs as well.'),
    createdAt: Moment,
    updatedAt: Moment,
  })
  .meta({
    id: 'Webhook',
    description: 'Who is told what becomes of jobs.',
  }) satisfies z.ZodType<WebhookView>;

const secret = z.string().describe('To verify signatures with. It is never shown again.');

export const MadeWebhookAnswer = z.looseObject({ id: z.string(), secret });
export const RotatedSecretAnswer = z.looseObject({
  id: z.string(),
  secret,
  previousSecretUntil: Moment.describe('Until then the old secret signs as well.'),
});
export const WebhooksAnswer = z.looseObject({ webhooks: z.array(WebhookAnswer) });

const DeliveryAnswer = z
  .looseObject({
    id: z.string().describe('The webhook-id of every send.'),
    webhookId: z.string(),
    event: z.enum([...WEBHOOK_EVENTS, TEST_EVENT]),
    jobId: z.string().nullable(),
    status: z.enum(DELIVERY_STATUSES),
    redeliveryOf: z.string().nullable().describe('The delivery that this one repeats.'),
    request: z.unknown().describe('The body, a CloudEvent; null until the first try.'),
    attempts: z.array(
      z.looseObject({
        at: Moment,
        durationMs: z.int(),
        status: z.int().nullable().describe('What was answered; null when nothing was.'),
        error: z.string().nullable().describe('Why nothing was.'),
        responseBody: z.string().nullable().describe('The beginning of the answer.'),
        responseTruncated: z.boolean(),
      }),
    ),
    createdAt: Moment,
    nextAttemptAt: Moment.nullable(),
    finishedAt: Moment.nullable(),
  })
  .meta({
    id: 'Delivery',
    description: 'One event for one webhook, and how the tries to send it went.',
  }) satisfies z.ZodType<DeliveryView>;

export const DeliveryPageAnswer = z.looseObject({
  deliveries: z.array(DeliveryAnswer),
  nextCursor: z.string().nullable().describe('Ask with it for the next page; null at the end.'),
});

export const DeliveryMadeAnswer = z.looseObject({
  deliveryId: z.string().describe('The delivery that was made.'),
});
