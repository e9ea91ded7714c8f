import type { FastifyReply } from 'fastify';

/** For answers that are data: a browser must not guess, frame, run or share them. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // What jobs carry is nobody else's business. Pages that may be kept say so themselves.
  'cache-control': 'no-store',
};

export function setSecurityHeaders(reply: FastifyReply): void {
  void reply.headers(HEADERS);
}
