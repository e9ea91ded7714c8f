import type { FastifyRequest } from 'fastify';
import { callerOf } from './caller.ts';

/** Whose jobs a request is about. The only place that knows. */
export function tenantOf(request: FastifyRequest): string {
  return callerOf(request).tenant;
}
