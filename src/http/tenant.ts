import type { FastifyRequest } from 'fastify';

/** Whose jobs a request is about. The only place that knows, so that keys can decide it later. */
export function tenantOf(_request: FastifyRequest): string {
  return 'default';
}
