import type { FastifyReply } from 'fastify';

/** For data responses: no sniffing, framing, scripts or cross-origin use. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // Job data must not be cached. Cacheable pages set their own header.
  'cache-control': 'no-store',
};

export function setSecurityHeaders(reply: FastifyReply): void {
  void reply.headers(HEADERS);
}
