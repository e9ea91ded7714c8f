import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { Refusal } from '../../protocol/refusal.ts';
import {
  MadeWebhookAnswer,
  RotatedSecretAnswer,
  WebhookAnswer,
  WebhookIdParams,
  WebhooksAnswer,
} from '../../protocol/answers/webhook-answer.ts';
import {
  RotateSecretBody,
  WebhookBody,
  WebhookPatch,
} from '../../protocol/requests/webhook-body.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  type WebhookChange,
} from '../../store/webhooks/webhooks.ts';
import { Networks } from '../../webhooks/networks.ts';
import { newSecret } from '../../webhooks/sign.ts';
import { UrlGuard } from '../../webhooks/url-guard.ts';
import { actorOf } from '../access/caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import { tenantOf } from '../access/tenant.ts';
import { noSuchWebhook, webhookIdOf } from '../cursors/webhook-path.ts';

const changing = bodyRefusals('URL_NOT_ALLOWED', 'NOT_FOUND');

const operation = (operationId: string, summary: string, description: string) => ({
  operationId,
  tags: ['webhooks'],
  summary,
  description,
});

const CREATE = {
  ...operation(
    'createWebhook',
    'Create a webhook',
    'Receives the chosen events by signed requests from now on. Only this response contains the ' +
      'secret. A URL with a private address is rejected.',
  ),
  body: WebhookBody,
  response: {
    201: answer('The id and the secret.', MadeWebhookAnswer),
    ...bodyRefusals('URL_NOT_ALLOWED', 'NOT_FOUND', 'QUOTA_EXCEEDED'),
  },
};

const LIST = {
  ...operation('listWebhooks', 'List webhooks', 'Oldest first.'),
  response: { 200: answer('The webhooks.', WebhooksAnswer), ...refusals('UNAVAILABLE') },
};

const GET = {
  ...operation('getWebhook', 'Get a webhook', 'The notice says why a webhook was disabled.'),
  params: WebhookIdParams,
  response: { 200: answer('The webhook.', WebhookAnswer), ...refusals('NOT_FOUND', 'UNAVAILABLE') },
};

const PATCH = {
  ...operation(
    'changeWebhook',
    'Change a webhook',
    'Omitted fields stay unchanged. Pending deliveries go to the new URL.',
  ),
  params: WebhookIdParams,
  body: WebhookPatch,
  response: { 200: answer('The webhook.', WebhookAnswer), ...changing },
};

const DELETE = {
  ...operation('deleteWebhook', 'Delete a webhook', 'Drops pending deliveries.'),
  params: WebhookIdParams,
  response: { 204: z.null().describe('The webhook was deleted.'), ...changing },
};

const ROTATE = {
  ...operation(
    'rotateWebhookSecret',
    'Rotate the secret of a webhook',
    'Both secrets sign for the overlap, so that the receiver can switch.',
  ),
  params: WebhookIdParams,
  body: RotateSecretBody,
  response: { 201: answer('The new secret.', RotatedSecretAnswer), ...changing },
};

export function webhooksRoutes(
  app: FastifyInstance,
  { db, quotas, webhookAllow, webhookBrokers }: HttpDeps,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  // Webhook URLs often contain a token, so reading them requires operate too.
  const config = { access: 'operate' } as const;
  const guard = new UrlGuard(new Networks(webhookAllow), undefined, webhookBrokers);

  const demandReachable = async (url: string) => {
    const detail = await guard.problemOf(url);
    if (detail === null) return;
    const errors = [{ pointer: '/url', detail }];
    throw new Refusal('URL_NOT_ALLOWED', `/url: ${detail}`, { errors });
  };

  app.post('/v1/webhooks', { schema: CREATE, config }, async (request, reply) => {
    const {
      url,
      events,
      format,
      description = null,
      ...filter
    } = parseBody(WebhookBody, request.body);
    const { definitionKeys = null, tags = null } = filter;
    await demandReachable(url);
    const spec = { url, events, format, description, definitionKeys, tags };
    const secret = newSecret();
    const tenant = tenantOf(request);
    const make = async () => await createWebhook(db, actorOf(request), tenant, spec, secret);
    const { id } = quotas ? await quotas.webhook(tenant, make) : await make();
    return reply.code(201).header('location', `/v1/webhooks/${id}`).send({ id, secret });
  });

  app.get('/v1/webhooks', { schema: LIST, config }, async (request) => ({
    webhooks: await listWebhooks(db, tenantOf(request)),
  }));

  typed.get('/v1/webhooks/:webhookId', { schema: GET, config }, async (request) => {
    const { webhookId } = request.params;
    const found = await getWebhook(db, tenantOf(request), webhookIdOf(webhookId));
    return found ?? noSuchWebhook(webhookId);
  });

  typed.patch('/v1/webhooks/:webhookId', { schema: PATCH, config }, async (request) => {
    const change = given(parseBody(WebhookPatch, request.body));
    const id = webhookIdOf(request.params.webhookId);
    if (change.url !== undefined) await demandReachable(change.url);
    const changed = await changeWebhook(db, actorOf(request), tenantOf(request), id, change);
    return changed ?? noSuchWebhook(id);
  });

  typed.delete('/v1/webhooks/:webhookId', { schema: DELETE, config }, async (request, reply) => {
    parseNothing(request.body);
    const id = webhookIdOf(request.params.webhookId);
    const deleted = await deleteWebhook(db, actorOf(request), tenantOf(request), id);
    if (!deleted) noSuchWebhook(id);
    return reply.code(204).send(null);
  });

  typed.post(
    '/v1/webhooks/:webhookId/rotate',
    { schema: ROTATE, config },
    async (request, reply) => {
      const { overlapSeconds } = parseBody(RotateSecretBody, request.body);
      const id = webhookIdOf(request.params.webhookId);
      const secret = newSecret();
      const overlapMs = overlapSeconds * 1_000;
      const by = actorOf(request);
      const until = await rotateSecret(db, by, tenantOf(request), id, secret, overlapMs);
      if (!until) return noSuchWebhook(id);
      const previousSecretUntil = until.toISOString();
      return reply.code(201).send({ id, secret, previousSecretUntil });
    },
  );
}

/** Without undefined fields, which must not overwrite values. */
function given(patch: WebhookPatch): WebhookChange {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}
