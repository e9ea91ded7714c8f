import type { FastifyInstance } from 'fastify';
import { QueuedAnswer } from '../../protocol/answers/dialect-answer.ts';
import { QueueBody } from '../../protocol/requests/dialect-body.ts';
import { parseQueue } from '../../protocol/requests/parse-dialect.ts';
import type { HttpDeps } from '../deps.ts';
import { answer } from '../openapi.ts';
import { startOne } from '../../enqueue/start-jobs.ts';
import { BODY_MAX_BYTES, startRefusals, traced } from '../start.ts';
import { tenantOf } from '../access/tenant.ts';

/**
 * Seed 003. Its visibility timeout is the definition's `timeoutSeconds`, and the lease if the
 * worker is lost. All timed-out jobs return to the queue, not only the one at its head.
 */
const QUEUE = {
  operationId: 'queueJob',
  tags: ['dialects'],
  summary: 'Enqueue a job (API of seed 003)',
  body: QueueBody,
  response: { 201: answer('The job is stored.', QueuedAnswer), ...startRefusals },
};

export function jobberRoutes(app: FastifyInstance, { enqueuer }: HttpDeps): void {
  const options = {
    schema: QUEUE,
    bodyLimit: BODY_MAX_BYTES,
    config: { access: 'jobs:write' } as const,
  };
  app.post('/jobber/queue', options, async (request, reply) => {
    const job = traced(request, parseQueue(request.body, tenantOf(request)));
    const { jobId } = await startOne(enqueuer, job, { paramsField: 'payload', keyField: 'type' });
    return reply.code(201).send({ 'job-id': jobId });
  });
}
