import type { FastifyRequest } from 'fastify';
import type { JobRequest } from '../core/job/new-job.ts';
import { traceparentOf } from '../core/values/trace-context.ts';
import { bodyRefusals } from './openapi.ts';

/** Shared by all routes that enqueue jobs. */
export { BODY_MAX_BYTES } from '../protocol/read-json.ts';
export const BATCH_BODY_MAX_BYTES = 16 * 1024 * 1024;

export const startRefusals = bodyRefusals(
  'PAYLOAD_INVALID',
  'UNREGISTERED',
  'IDEMPOTENCY_CONFLICT',
  'QUOTA_EXCEEDED',
);

/** Adds the caller's trace context to the job, if the request has one. */
export function traced<Job extends JobRequest>({ headers }: FastifyRequest, job: Job): Job {
  const traceparent = traceparentOf(headers['traceparent']);
  return traceparent === null ? job : { ...job, traceparent };
}
