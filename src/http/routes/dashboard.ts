import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpDeps } from '../deps.ts';
import { noSuchPath, unavailable } from '../problem.ts';
import { pageFor, readWebFiles, type WebFile, type WebFiles } from '../web-files.ts';

/**
 * Only own files and this server: no inline scripts, other hosts or frames; trusted types block DOM
 * injection.
 */
const DASHBOARD_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const FOREVER = 'public, max-age=31536000, immutable';

/** File names in this folder contain a content hash. */
const HASHED = 'assets/';

/** Not part of the API, so not in the OpenAPI document. */
const HIDDEN = { schema: { hide: true }, config: { quiet: true } };

export function dashboardRoutes(app: FastifyInstance, { dashboard, log }: HttpDeps): void {
  let files: Promise<WebFiles> | undefined;

  const load = async (): Promise<WebFiles> => {
    if (!dashboard) throw unavailable('this server has no dashboard');
    // A failed build is retried by the next request.
    files ??= dashboard().then(readWebFiles);
    return await files.catch((error: unknown) => {
      files = undefined;
      log.error({ err: error }, 'the dashboard cannot be shown');
      throw unavailable(error instanceof Error ? error.message : String(error));
    });
  };

  app.get('/ui', HIDDEN, (_request, reply) => reply.redirect('ui/', 302));

  app.get('/ui/*', HIDDEN, async (request, reply) => {
    // Not decoded: an encoded slash is part of a name.
    const path = request.url.slice('/ui/'.length).replace(/\?.*$/s, '');
    const all = await load();
    const file = all.get(path);
    if (file && path !== 'index.html') {
      return send(request, reply, file, path.startsWith(HASHED) ? FOREVER : 'no-cache');
    }
    const page = all.get('index.html');
    if (!page || path.startsWith(HASHED)) throw noSuchPath();
    void reply.header('content-security-policy', DASHBOARD_POLICY);
    return send(request, reply, pageFor(page, path), 'no-cache');
  });
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, type, etag }: WebFile,
  caching: string,
): FastifyReply {
  void reply.headers({ etag, 'cache-control': caching });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type(type).send(body);
}
