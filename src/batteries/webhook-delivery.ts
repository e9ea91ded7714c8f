import { z } from 'zod';
import { defineJob, type JobContext } from '../core/definition/define.ts';
import { isDelivered, type Send } from '../core/webhook/webhook.ts';
import { systemClock } from '../runtime/clock.ts';
import { signedHeaders } from '../webhooks/sign.ts';
import { failureOf, GuardedPost, receiptOf } from './guarded-post.ts';
import { type ReadyJobOptions, secretOf } from './ready-job.ts';

export interface WebhookDeliveryOptions extends ReadyJobOptions {
  /** The environment variable with the secret (`whsec_…`) that signs requests. Default: unsigned. */
  secret?: string | undefined;
  /** Private networks that it may reach, such as '10.1.0.0/16'. */
  allow?: readonly string[] | undefined;
  /** How long a receiver may take. Default 15 s. */
  answerWithinMs?: number | undefined;
}

const SENDS_KEPT = 20;
const FORBIDDEN = /^(host|content-length|transfer-encoding|connection|webhook-.*)$/i;

const EXAMPLE = {
  url: 'https://example.com/hooks',
  data: { type: 'test', message: 'A test delivery of Longshore' },
};

const Params = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .meta({ title: 'URL', examples: ['https://example.com/hooks'] }),
    data: z.unknown().meta({ description: 'The body: any JSON.' }),
    headers: z
      .record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/), z.string().max(2_000))
      .refine((headers) => !Object.keys(headers).some((name) => FORBIDDEN.test(name)), {
        error:
          'host, connection, content-length, transfer-encoding and webhook-* are set by Longshore',
      })
      .optional(),
  })
  .meta({ examples: [EXAMPLE] });

export type WebhookDeliveryParams = z.input<typeof Params>;

/** The receipt of a delivery. */
export interface DeliveryReceipt {
  /** The header `webhook-id`: the id of the job, the same for every try. */
  deliveryId: string;
  at: string;
  durationMs: number;
  status: number | null;
  /** The beginning of the response. */
  response: string | null;
  /** How often it was sent. */
  sends: number;
}

/**
 * Sends a request to an external endpoint, signed, with retries. What was sent is stored before the
 * attempt ends: an attempt after a crash sees an earlier success and sends nothing.
 */
export function webhookDelivery(options: WebhookDeliveryOptions = {}) {
  const { secret, allow, answerWithinMs, ...policy } = options;
  const post = new GuardedPost(allow, answerWithinMs);
  return defineJob({
    key: 'webhook_delivery',
    description: 'Sends JSON to a URL by POST.',
    retry: 'webhook',
    timeoutSeconds: 60,
    ...policy,
    params: Params,
    run: async (params, ctx): Promise<DeliveryReceipt> => {
      const before = sendsOf(ctx);
      const arrived = before.find(isDelivered);
      if (arrived) return { deliveryId: ctx.jobId, ...receiptOf(arrived), sends: before.length };
      const body = JSON.stringify(params.data ?? null);
      const secrets = secret === undefined ? [] : [secretOf(secret)];
      const signed = signedHeaders(ctx.jobId, systemClock.now(), body, secrets);
      const headers = { ...params.headers, 'content-type': 'application/json', ...signed };
      const sent = await post.send({ url: params.url, headers, body }, ctx.abortSignal);
      const sends = [...before, sent.send].slice(-SENDS_KEPT);
      await ctx.checkpoint(sends);
      await ctx.emitEvent('webhook.sent', receiptOf(sent.send));
      const failure = failureOf(sent);
      if (failure) throw failure;
      return { deliveryId: ctx.jobId, ...receiptOf(sent.send), sends: sends.length };
    },
  });
}

function sendsOf({ lastCheckpoint }: JobContext): Send[] {
  return Array.isArray(lastCheckpoint) ? (lastCheckpoint as Send[]) : [];
}
