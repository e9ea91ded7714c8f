import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { ApiDocument } from '../docs/api-document.ts';
import { renderApi } from '../docs/api-page.ts';
import { API_TITLE, DocsSite } from '../docs/site.ts';
import { DOCS_POLICY } from '../docs/style.ts';
import { type KeptPage, keptPage, sendKept } from '../docs/kept-page.ts';
import { markup } from '../docs/markup.ts';
import { answer, refusals } from '../openapi.ts';
import { noSuchPath } from '../problem.ts';

const DOCUMENT = {
  operationId: 'openapi',
  tags: ['server'],
  summary: 'This API as an OpenAPI 3.1 document',
  response: { 200: answer('The document.', z.looseObject({ openapi: z.string() })), ...refusals() },
};

const HOME = {
  operationId: 'docs',
  tags: ['server'],
  summary: 'The documentation, including this API',
  response: { 200: answer('The page.', z.string(), 'text/html'), ...refusals() },
};

const ROOT = {
  operationId: 'root',
  tags: ['server'],
  summary: 'Redirects to the dashboard',
  response: { 302: z.null().describe('To /ui/.'), ...refusals() },
};

/** Not part of the API, so not in the OpenAPI document. */
const HIDDEN = { schema: { hide: true }, config: { quiet: true } };

export function docsRoutes(app: FastifyInstance): void {
  let reading: Promise<DocsSite> | undefined;
  const site = async (): Promise<DocsSite> => {
    reading ??= DocsSite.read();
    // A failed read is retried by the next request.
    return await reading.catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
  };

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

  let reference: string[] | undefined;
  app.get('/docs/api', HIDDEN, async (request, reply) => {
    reference ??= (await site())
      .frame(API_TITLE, renderApi(app.swagger() as unknown as ApiDocument, `http://${ANY_HOST}`))
      .split(ANY_HOST);
    // The Host header was validated, so examples can use it.
    const { text: host } = markup`${request.headers.host ?? ''}`;
    void reply.header('content-security-policy', DOCS_POLICY);
    return sendKept(request, reply, keptPage(reference.join(host), HTML));
  });

  app.get<{ Querystring: { q?: unknown } }>('/docs/search', HIDDEN, async (request, reply) => {
    const { q } = request.query;
    return send(reply, (await site()).search(typeof q === 'string' ? q.slice(0, 200) : ''));
  });

  app.get<{ Params: { page: string } }>('/docs/:page', HIDDEN, async (request, reply) => {
    const page = (await site()).page(request.params.page);
    if (page === null) throw noSuchPath();
    return send(reply, page);
  });

  app.get<{ Params: { name: string } }>('/docs/images/:name', HIDDEN, async (request, reply) => {
    const image = (await site()).image(request.params.name);
    if (!image) throw noSuchPath();
    return reply.type('image/png').header('cache-control', 'no-cache').send(image);
  });

  // Relative, so that it works below the path of a proxy.
  app.get('/', { schema: ROOT, config: { access: 'public' } }, (_request, reply) =>
    reply.redirect('ui/', 302),
  );
}

const HTML = 'text/html; charset=utf-8';

/** Placeholder for the host name; does not occur in our texts. */
const ANY_HOST = 'host-of-this-server.invalid';

function send(reply: FastifyReply, page: string): FastifyReply {
  void reply.type(HTML).headers({
    'content-security-policy': DOCS_POLICY,
    'cache-control': 'no-cache',
  });
  return reply.send(page);
}
