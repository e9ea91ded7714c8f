import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type AlertRouteSpec, NO_MAIL_SERVER } from '../../../core/alert/route.ts';
import { isJobId } from '../../../core/job/job-id.ts';
import { nearestName } from '../../../core/values/nearest.ts';
import {
  AlertMessageMadeAnswer,
  AlertMessagePageAnswer,
  AlertMessageQuery,
  AlertRouteBody,
  AlertRouteParams,
  AlertRoutesAnswer,
  routeNameProblem,
  SavedRouteAnswer,
} from '../../../protocol/alert-route.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { parseBody } from '../../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import { listMessages, makeTestMessage } from '../../../store/alerts/messages.ts';
import { deleteRoute, listRoutes, saveRoute } from '../../../store/alerts/routes.ts';
import type { Db } from '../../../store/connection/db.ts';
import { Networks } from '../../../webhooks/networks.ts';
import { UrlGuard } from '../../../webhooks/url-guard.ts';
import { actorOf } from '../../access/caller.ts';
import { tenantOf } from '../../access/tenant.ts';
import { nextLink, readHistoryCursor } from '../../cursors/cursor.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';

const changing = bodyRefusals('NOT_FOUND');

const operation = (operationId: string, summary: string, description: string) => ({
  operationId,
  tags: ['alerts'],
  summary,
  description,
});

const LIST = {
  ...operation(
    'listAlertRoutes',
    'List alert routes',
    'Where alerts are sent by e-mail or chat, by name. The URL of a chat is not shown.',
  ),
  response: { 200: answer('The routes.', AlertRoutesAnswer), ...refusals('UNAVAILABLE') },
};

const PUT = {
  ...operation(
    'saveAlertRoute',
    'Create or replace an alert route',
    'Sends the alerts that pass its filters. Every route that an alert passes sends it. A URL with a ' +
      'private address is rejected.',
  ),
  params: AlertRouteParams,
  body: AlertRouteBody,
  response: {
    200: answer('The route.', SavedRouteAnswer),
    ...bodyRefusals('URL_NOT_ALLOWED', 'QUOTA_EXCEEDED'),
  },
};

const DELETE = {
  ...operation(
    'deleteAlertRoute',
    'Delete an alert route',
    'Drops messages that are not sent yet.',
  ),
  params: AlertRouteParams,
  response: { 204: z.null().describe('The route was deleted.'), ...changing },
};

const TEST = {
  ...operation(
    'testAlertRoute',
    'Send a test message',
    'Sent once, even while the route is disabled. See its messages for the result.',
  ),
  params: AlertRouteParams,
  response: { 202: answer('The message was queued.', AlertMessageMadeAnswer), ...changing },
};

const MESSAGES = {
  ...operation(
    'listAlertMessages',
    'List messages of an alert route',
    'Newest first, page by page, each with its attempts. Kept as long as jobs.',
  ),
  params: AlertRouteParams,
  querystring: AlertMessageQuery,
  response: {
    200: answer('A page of messages.', AlertMessagePageAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

export function alertRoutesRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const { db, webhookAllow, hasMail } = deps;
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'operate' } as const;
  const guard = new UrlGuard(new Networks(webhookAllow));

  app.get('/v1/alerts/routes', { schema: LIST, config }, async (request) => ({
    routes: await listRoutes(db, tenantOf(request)),
  }));

  typed.put('/v1/alerts/routes/:name', { schema: PUT, config }, async (request) => {
    const { name } = request.params;
    const problem = routeNameProblem(name);
    if (problem !== null) throw misfit('name', problem);
    const { url = null, ...body } = parseBody(AlertRouteBody, request.body);
    const spec = specOf(body);
    if (spec.channel === 'email' && url !== null) throw misfit('url', 'is for chats only');
    const detail = url === null ? null : await guard.problemOf(url);
    if (detail !== null) {
      const errors = [{ pointer: '/url', detail }];
      throw new Refusal('URL_NOT_ALLOWED', `/url: ${detail}`, { errors });
    }
    const saved = await saveRoute(db, actorOf(request), tenantOf(request), name, spec, url);
    if (saved === 'needs-url') throw misfit('url', `is required for ${spec.channel}`);
    if (saved === 'too-many') {
      throw new Refusal('QUOTA_EXCEEDED', 'the tenant has too many alert routes: delete one first');
    }
    const lacksMail = hasMail === false && spec.channel === 'email';
    return { ...saved, warnings: lacksMail ? [NO_MAIL_SERVER] : [] };
  });

  typed.delete('/v1/alerts/routes/:name', { schema: DELETE, config }, async (request, reply) => {
    parseNothing(request.body);
    const { name } = request.params;
    const gone = await deleteRoute(db, actorOf(request), tenantOf(request), name);
    if (!gone) throw await noSuchRoute(db, tenantOf(request), name);
    return reply.code(204).send(null);
  });

  typed.post('/v1/alerts/routes/:name/test', { schema: TEST, config }, async (request, reply) => {
    parseNothing(request.body);
    const { name } = request.params;
    const messageId = await makeTestMessage(db, actorOf(request), tenantOf(request), name);
    if (messageId === null) throw await noSuchRoute(db, tenantOf(request), name);
    return reply.code(202).send({ messageId });
  });

  typed.get(
    '/v1/alerts/routes/:name/messages',
    { schema: MESSAGES, config },
    async (request, reply) => {
      const tenant = tenantOf(request);
      const { name } = request.params;
      const { cursor, limit } = request.query;
      // The id of a message is its cursor.
      const afterId = cursor === undefined ? null : readHistoryCursor(cursor, isJobId);
      if (!(await namesOf(db, tenant)).includes(name)) throw await noSuchRoute(db, tenant, name);
      const { messages, nextId } = await listMessages(db, tenant, name, { afterId, limit });
      if (nextId !== null) void reply.header('link', nextLink(request.url, nextId));
      return reply.send({ messages, nextCursor: nextId });
    },
  );
}

function specOf(body: Omit<z.infer<typeof AlertRouteBody>, 'url'>): AlertRouteSpec {
  const { channel, to = [], rules = null, owners = null, definitionKeys = null } = body;
  const { quietHours = null, groupSeconds, enabled } = body;
  if (channel === 'email' && to.length === 0) throw misfit('to', 'is required for email');
  if (channel !== 'email' && to.length > 0) throw misfit('to', 'is for email only');
  return { channel, to, rules, owners, definitionKeys, quietHours, groupSeconds, enabled };
}

function misfit(field: string, detail: string): Refusal {
  const errors = [{ pointer: `/${field}`, detail }];
  return new Refusal('VALIDATION_FAILED', `/${field}: ${detail}`, { errors });
}

async function noSuchRoute(db: Db, tenant: string, name: string): Promise<Refusal> {
  const nearest = nearestName(name.slice(0, 63), await namesOf(db, tenant));
  const hint = nearest === null ? '' : `: did you mean ${JSON.stringify(nearest)}?`;
  const detail = `alert route ${JSON.stringify(name.slice(0, 63))} not found${hint}`;
  return new Refusal('NOT_FOUND', detail);
}

async function namesOf(db: Db, tenant: string): Promise<string[]> {
  return (await listRoutes(db, tenant)).map(({ name }) => name);
}
