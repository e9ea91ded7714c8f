import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { readApiReference } from '../docs/api-reference.ts';
import { DocsSite } from '../docs/site.ts';
import { DOCS_POLICY } from '../docs/style.ts';
import { type KeptPage, keptPage, sendKept } from '../kept-page.ts';
import { answer, refusals } from '../openapi.ts';
import { noSuchPath } from '../problem.ts';
import { readOnce } from '../read-once.ts';

const DOCUMENT = {
  operationId: 'openapi',
  tags: ['server'],
  summary: 'This API as an OpenAPI 3.1 document',
  response: { 200: answer('The document.', z.looseObject({ openapi: z.string() })), ...refusals() },
};

const HOME = {
  operationId: 'docs',
  tags: ['server'],
  summary: 'The docs for people, this API among them',
  response: { 200: answer('The page.', z.string(), 'text/html'), ...refusals() },
};

const ROOT = {
  operationId: 'root',
  tags: ['server'],
  summary: 'Leads to the dashboard',
  response: { 302: z.null().describe('To /ui/.'), ...refusals() },
};

/** Pages for people's browsers and no calls of the API, so no document lists them. */
const HIDDEN = { schema: { hide: true }, config: { quiet: true } };

export function docsRoutes(app: FastifyInstance): void {
  const site = readOnce(async () => await DocsSite.read());
  const reference = readOnce(readApiReference);

  let document: KeptPage | undefined;
  app.get(
    '/openapi.json',
    { schema: DOCUMENT, config: { quiet: true, access: 'public' } },
    async (request, reply) => {
      document ??= keptPage(JSON.stringify(app.swagger()), 'application/json; charset=utf-8');
      return sendKept(request, reply, document);
    },
  );

  app.get('/docs', { schema: HOME, config: { access: 'public' } }, async (_request, reply) =>
    send(reply, (await site()).home('docs/')),
  );

  app.get('/docs/', HIDDEN, async (_request, reply) => send(reply, (await site()).home('./')));

  app.get('/docs/api', HIDDEN, async (request, reply) => {
    const { page, policy } = await reference();
    return sendKept(request, reply.header('content-security-policy', policy), page);
  });

  app.get('/docs/api/scalar.js', HIDDEN, async (request, reply) =>
    sendKept(request, reply, (await reference()).script),
  );

  app.get<{ Querystring: { q?: unknown } }>('/docs/search', HIDDEN, async (request, reply) => {
    const { q } = request.query;
    const question = typeof q === 'string' ? q.slice(0, 200) : '';
    return send(reply, await (await site()).search(question));
  });

  app.get<{ Params: { page: string } }>('/docs/:page', HIDDEN, async (request, reply) => {
    const page = (await site()).page(request.params.page);
    if (page === null) throw noSuchPath();
    return send(reply, page);
  });

  app.get<{ Params: { name: string } }>('/docs/images/:name', HIDDEN, async (request, reply) => {
    const { name } = request.params;
    const image = (await site()).image(name);
    if (!image) throw noSuchPath();
    const type = name.endsWith('.svg') ? 'image/svg+xml' : 'image/png';
    return reply.type(type).header('cache-control', 'no-cache').send(image);
  });

  // Relative, so that it stays below the path of a proxy.
  app.get('/', { schema: ROOT, config: { access: 'public' } }, (_request, reply) =>
    reply.redirect('ui/', 302),
  );
}

const HTML = 'text/html; charset=utf-8';

function send(reply: FastifyReply, page: string): FastifyReply {
  void reply.type(HTML).headers({
    'content-security-policy': DOCS_POLICY,
    'cache-control': 'no-cache',
  });
  return reply.send(page);
}
