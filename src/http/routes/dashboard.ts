import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyError, FastifyInstance } from 'fastify';
import { Refusal } from '../../protocol/refusal.ts';
import type { HttpDeps } from '../deps.ts';
import { keptPage, sendKept } from '../kept-page.ts';
import { noSuchPath, unavailable } from '../problem.ts';
import { readOnce } from '../read-once.ts';

/** Only files and calls of this server: no inline script, no other host, no frame, no HTML sinks. */
const DASHBOARD_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/** Files for browsers are not calls of the API, so the OpenAPI document does not list them. */
const HIDDEN = { schema: { hide: true }, config: { quiet: true } };

const FILE = {
  ...HIDDEN,
  // The one error that a request can cause in `sendFile`: the file does not meet its If-Match.
  errorHandler: (error: FastifyError) => {
    throw error.statusCode === 412 ? new Refusal('BAD_REQUEST', 'the file has changed') : error;
  },
};

export function dashboardRoutes(
  app: FastifyInstance,
  { dashboard, environment, log }: HttpDeps,
): void {
  app.register(fastifyStatic, { serve: false, acceptRanges: false });

  const folder = readOnce(async () => {
    if (!dashboard) throw unavailable('this server has no dashboard');
    return await dashboard().catch((error: unknown) => {
      log.error({ err: error }, 'the dashboard cannot be shown');
      throw unavailable(error instanceof Error ? error.message : String(error));
    });
  });
  const index = readOnce(async () => {
    const html = await readFile(join(await folder(), 'index.html'), 'utf8');
    return environment ? html.replace('<title>', () => `${metaOf(environment)}<title>`) : html;
  });

  app.get('/ui', HIDDEN, (_request, reply) => reply.redirect('ui/', 302));

  // The name of an asset has the hash of its content.
  app.get<{ Params: { '*': string } }>('/ui/assets/*', FILE, async (request, reply) => {
    const { '*': name } = request.params;
    if (!/^\w[\w.-]*$/.test(name)) throw noSuchPath();
    return reply.sendFile(`assets/${name}`, await folder(), { immutable: true, maxAge: '1y' });
  });

  app.get('/ui/favicon.svg', FILE, async (_request, reply) =>
    reply.header('cache-control', 'no-cache').sendFile('favicon.svg', await folder(), {
      cacheControl: false,
    }),
  );

  app.get('/ui/*', HIDDEN, async (request, reply) => {
    // The raw path: an encoded slash is part of a name, here and in the browser.
    const path = request.url.slice('/ui/'.length).replace(/\?.*$/s, '');
    // The base is relative to the path, so the page works below any prefix of a proxy.
    const base = '../'.repeat(path.split('/').length - 1) || './';
    const html = (await index()).replace('<base href="./" />', `<base href="${base}" />`);
    void reply.header('content-security-policy', DASHBOARD_POLICY);
    return sendKept(request, reply, keptPage(html, 'text/html; charset=utf-8'));
  });
}

/** The page needs it before a sign-in, and no call must be made for it. */
function metaOf({ name, color }: { name: string; color: string }): string {
  const content = name.replaceAll(/[&"<>]/g, (one) => `&#${one.codePointAt(0)};`);
  return `<meta name="longshore-environment" content="${content}" data-color="${color}" />`;
}
