import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ApiDocument } from '../api-document.ts';
import { renderDocs } from '../docs-page.ts';
import { DOCS_POLICY } from '../docs-style.ts';
import { answer, refusals } from '../openapi.ts';

const DOCUMENT = {
  operationId: 'openapi',
  tags: ['server'],
  summary: 'This API as an OpenAPI 3.1 document',
  response: { 200: answer('The document.', z.looseObject({ openapi: z.string() })), ...refusals() },
};

const PAGE = {
  operationId: 'docs',
  tags: ['server'],
  summary: 'This API as a page for people',
  response: { 200: answer('The page.', z.string(), 'text/html'), ...refusals() },
};

const ROOT = {
  operationId: 'root',
  tags: ['server'],
  summary: 'Leads to the dashboard',
  response: { 302: z.null().describe('To /ui/.'), ...refusals() },
};

export function docsRoutes(app: FastifyInstance): void {
  app.get('/openapi.json', { schema: DOCUMENT, config: { quiet: true, access: 'public' } }, () =>
    app.swagger(),
  );

  app.get('/docs', { schema: PAGE, config: { access: 'public' } }, (request, reply) => {
    // The Host header has passed its guard, so the examples can call the server as the reader did.
    const page = renderDocs(
      app.swagger() as unknown as ApiDocument,
      `http://${request.headers.host}`,
    );
    void reply.type('text/html; charset=utf-8').header('content-security-policy', DOCS_POLICY);
    return reply.send(page);
  });

  // Relative, so that it stays below the path of a proxy.
  app.get('/', { schema: ROOT, config: { access: 'public' } }, (_request, reply) =>
    reply.redirect('ui/', 302),
  );
}
