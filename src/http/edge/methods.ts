import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/refusal.ts';
import { sendProblem } from '../problem.ts';

/** Methods by path pattern. */
export type RouteTable = Map<string, Set<string>>;

export function rememberRoutes(app: FastifyInstance): RouteTable {
  const table: RouteTable = new Map();
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (schema?.hide) return;
    const methods = table.get(url) ?? new Set<string>();
    table.set(url, methods);
    for (const one of [method].flat()) methods.add(one);
  });
  return table;
}

/**
 * Adds a response for all other methods of a known path: 405 with `Allow`, and 204 for OPTIONS.
 * They are routes, so the router matches the path, and they respond before a body is read.
 */
export function closeOtherMethods(app: FastifyInstance, table: RouteTable): void {
  for (const [url, known] of table) {
    const allow = [...known, 'OPTIONS'].sort().join(', ');
    const others = app.supportedMethods.filter((method) => !known.has(method));
    app.route({
      method: others,
      url,
      schema: { hide: true },
      onRequest: (request, reply) => answerOther(request, reply, allow),
      handler: () => undefined,
    });
  }
}

/** Fastify knows a dozen methods; others would become a 404. */
export function knowAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
}

async function answerOther(
  request: FastifyRequest,
  reply: FastifyReply,
  allow: string,
): Promise<FastifyReply> {
  if (request.method === 'OPTIONS') return reply.code(204).header('allow', allow).send();
  const detail = `${request.method} is not allowed for this path; allowed: ${allow}`;
  sendProblem(reply, new Refusal('METHOD_NOT_ALLOWED', detail, { headers: { allow } }));
  return reply;
}
