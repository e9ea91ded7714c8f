import type { FastifyReply } from 'fastify';

/** For answers that are data: a browser must not guess, frame, run or share them. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

export function setSecurityHeaders(reply: FastifyReply): void {
  void reply.headers(HEADERS);
  // What jobs carry is nobody else's business, and old by the time it is looked at again.
  if (reply.request.url.startsWith('/v1/')) void reply.header('cache-control', 'no-store');
}
