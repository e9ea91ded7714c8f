import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { isJobId } from '../../core/job/job-id.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { Refusal } from '../../protocol/refusal.ts';
import {
  DeliveryIdParams,
  DeliveryMadeAnswer,
  DeliveryPageAnswer,
  WebhookIdParams,
} from '../../protocol/answers/webhook-answer.ts';
import { DeliveryQuery } from '../../protocol/requests/webhook-body.ts';
import { listDeliveries, makeTest, redeliver } from '../../store/webhooks/deliveries.ts';
import { getWebhook } from '../../store/webhooks/webhooks.ts';
import { actorOf } from '../access/caller.ts';
import { nextLink, readHistoryCursor } from '../cursors/cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import { tenantOf } from '../access/tenant.ts';
import { noSuchWebhook, webhookIdOf } from '../cursors/webhook-path.ts';

const making = bodyRefusals('NOT_FOUND', 'CONFLICT');

const LIST = {
  operationId: 'listDeliveries',
  tags: ['webhooks'],
  summary: 'List deliveries of a webhook',
  description:
    'Newest first, page by page, each with its body and the response to every attempt. Kept as ' +
    'long as jobs.',
  params: WebhookIdParams,
  querystring: DeliveryQuery,
  response: {
    200: answer('A page of deliveries.', DeliveryPageAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const REDELIVER = {
  operationId: 'redeliver',
  tags: ['webhooks'],
  summary: 'Redeliver an event',
  description:
    'A delivery of an active webhook that waits for its next attempt has it now; its id is ' +
    'returned. Otherwise sends the same body as a new delivery with a new webhook-id, even while ' +
    'the webhook is paused. A delivery that was never attempted returns 409.',
  params: DeliveryIdParams,
  response: { 202: answer('The delivery was queued.', DeliveryMadeAnswer), ...making },
};

const TEST = {
  operationId: 'testWebhook',
  tags: ['webhooks'],
  summary: 'Send a test event',
  description: 'Sent once, even while the webhook is paused. See its deliveries for the result.',
  params: WebhookIdParams,
  response: { 202: answer('The delivery was queued.', DeliveryMadeAnswer), ...making },
};

export function webhookDeliveriesRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'operate' } as const;

  typed.get(
    '/v1/webhooks/:webhookId/deliveries',
    { schema: LIST, config },
    async (request, reply) => {
      const tenant = tenantOf(request);
      const id = webhookIdOf(request.params.webhookId);
      const { cursor, limit } = request.query;
      // The id of a delivery is its cursor.
      const afterId = cursor === undefined ? null : readHistoryCursor(cursor, isJobId);
      if (!(await getWebhook(db, tenant, id))) return noSuchWebhook(id);
      const { deliveries, nextId } = await listDeliveries(db, tenant, id, { afterId, limit });
      if (nextId !== null) void reply.header('link', nextLink(request.url, nextId));
      return reply.send({ deliveries, nextCursor: nextId });
    },
  );

  typed.post(
    '/v1/webhooks/:webhookId/deliveries/:deliveryId/redeliver',
    { schema: REDELIVER, config },
    async (request, reply) => {
      parseNothing(request.body);
      const { webhookId, deliveryId } = request.params;
      const id = webhookIdOf(webhookId);
      const made = await redeliver(db, actorOf(request), tenantOf(request), id, deliveryId);
      if (made === null) {
        const named = JSON.stringify(deliveryId.slice(0, 60));
        throw new Refusal('NOT_FOUND', `delivery ${named} of the webhook not found`);
      }
      if (made === 'unsent') throw new Refusal('CONFLICT', 'it was never sent');
      return reply.code(202).send({ deliveryId: made.id });
    },
  );

  typed.post('/v1/webhooks/:webhookId/test', { schema: TEST, config }, async (request, reply) => {
    parseNothing(request.body);
    const id = webhookIdOf(request.params.webhookId);
    const deliveryId = await makeTest(db, actorOf(request), tenantOf(request), id);
    if (deliveryId === null) return noSuchWebhook(id);
    return reply.code(202).send({ deliveryId });
  });
}
