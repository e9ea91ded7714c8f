import type { FastifyRequest } from 'fastify';
import { callerOf } from './caller.ts';

/** The tenant that a request acts for. */
export function tenantOf(request: FastifyRequest): string {
  return callerOf(request).tenant;
}
