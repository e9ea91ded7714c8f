import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AcceptedAnswer, JobIdParams } from '../../protocol/answers/job-answer.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { RetryBody } from '../../protocol/requests/retry-body.ts';
import { cancelJob } from '../../store/change/cancel-job.ts';
import { deleteJob } from '../../store/change/delete-jobs.ts';
import { releaseJob } from '../../store/change/release-job.ts';
import { actorOf } from '../access/caller.ts';
import { accepted, changeRefusals, retry, retryRefusals } from '../change.ts';
import type { HttpDeps } from '../deps.ts';
import { wellFormed } from '../cursors/job-path.ts';
import { answer } from '../openapi.ts';
import { tenantOf } from '../access/tenant.ts';

const CANCEL = {
  operationId: 'cancelJob',
  tags: ['jobs'],
  summary: 'Cancel a job',
  description:
    'A waiting job is cancelled at once; a running one is asked to stop and is cancelling until ' +
    'it has. Asking again is fine. A job that has ended answers 409.',
  params: JobIdParams,
  response: { 202: answer('It stops.', AcceptedAnswer), ...changeRefusals },
};

const RELEASE = {
  operationId: 'releaseJob',
  tags: ['jobs'],
  summary: 'Release a held job',
  description: 'A job that was started with hold may now run. Any other state answers 409.',
  params: JobIdParams,
  response: { 202: answer('It may run.', AcceptedAnswer), ...changeRefusals },
};

const WRITES = { access: 'jobs:write' } as const;

const RETRY = {
  operationId: 'retryJob',
  tags: ['jobs'],
  summary: 'Retry a job',
  description:
    'A failed or cancelled job runs again; any other state answers 409. How it had ended stays ' +
    'to be read among its attempts and events. When it ends again, its hooks run again.',
  params: JobIdParams,
  body: RetryBody,
  response: { 202: answer('It runs again.', AcceptedAnswer), ...retryRefusals },
};

const DELETE = {
  operationId: 'deleteJob',
  tags: ['jobs'],
  summary: 'Delete a job',
  description:
    'Deletes a job that has ended, with its attempts, events and logs. Its idempotency key is ' +
    'free from then on. A job that has not ended answers 409: cancel it first.',
  params: JobIdParams,
  response: { 204: z.null().describe('It is gone.'), ...changeRefusals },
};

export function changeJobRoutes(app: FastifyInstance, { db, enqueuer }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    '/v1/jobs/:jobId/cancel',
    { schema: CANCEL, config: WRITES },
    async (request, reply) => {
      const jobId = wellFormed(request.params.jobId);
      parseNothing(request.body);
      const result = await cancelJob(db, tenantOf(request), jobId, actorOf(request));
      return reply.code(202).send(accepted(jobId, result, 'cancel'));
    },
  );

  typed.post(
    '/v1/jobs/:jobId/release',
    { schema: RELEASE, config: WRITES },
    async (request, reply) => {
      const jobId = wellFormed(request.params.jobId);
      parseNothing(request.body);
      const result = await releaseJob(db, tenantOf(request), jobId, actorOf(request));
      return reply.code(202).send(accepted(jobId, result, 'release'));
    },
  );

  typed.post('/v1/jobs/:jobId/retry', { schema: RETRY, config: WRITES }, async (request, reply) =>
    reply.code(202).send(await retry(request, request.params.jobId, { db, enqueuer })),
  );

  typed.delete('/v1/jobs/:jobId', { schema: DELETE, config: WRITES }, async (request, reply) => {
    const jobId = wellFormed(request.params.jobId);
    parseNothing(request.body);
    const result = await deleteJob(db, tenantOf(request), jobId, actorOf(request));
    accepted(jobId, result, 'delete');
    return reply.code(204).send(null);
  });
}
