import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A page that is made once, with what a browser needs to ask only whether it has changed. */
export interface KeptPage {
  body: string;
  type: string;
  etag: string;
}

export function keptPage(body: string, type: string): KeptPage {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { body, type, etag: `"${hash}"` };
}

export function sendKept(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, type, etag }: KeptPage,
): FastifyReply {
  void reply.headers({ etag, 'cache-control': 'no-cache' });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type(type).send(body);
}
