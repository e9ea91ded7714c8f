import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AcceptedAnswer, JobIdParams, SignalAnswer } from '../../protocol/answers/job-answer.ts';
import { CancelBody, parseCancel } from '../../protocol/cancel.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { parseSignal, SignalBody, SignalParams } from '../../protocol/signal.ts';
import { RetryBody } from '../../protocol/requests/retry-body.ts';
import { sendSignal } from '../../enqueue/send-signal.ts';
import { cancelAlone, cancelFamily } from '../../store/change/cancel-children.ts';
import { deleteJob } from '../../store/change/delete-jobs.ts';
import { releaseJob } from '../../store/change/release-job.ts';
import { actorOf } from '../access/caller.ts';
import { accepted, changeRefusals, retry, retryRefusals, signalRefusals } from '../change.ts';
import type { HttpDeps } from '../deps.ts';
import { noSuchJob, wellFormed } from '../cursors/job-path.ts';
import { answer } from '../openapi.ts';
import { tenantOf } from '../access/tenant.ts';

const CANCEL = {
  operationId: 'cancelJob',
  tags: ['jobs'],
  summary: 'Cancel a job',
  description:
    'A waiting job is cancelled at once; a running job is asked to stop and is cancelling until ' +
    'it has stopped. May be repeated. A finished job returns 409. Children of the job go on, unless ' +
    '`children` is set. A batch is cancelled with its jobs.',
  params: JobIdParams,
  body: CancelBody,
  response: { 202: answer('The cancellation was accepted.', AcceptedAnswer), ...changeRefusals },
};

const RELEASE = {
  operationId: 'releaseJob',
  tags: ['jobs'],
  summary: 'Release a held job',
  description: 'Lets a job that was enqueued with hold run. Any other state returns 409.',
  params: JobIdParams,
  response: { 202: answer('The job was released.', AcceptedAnswer), ...changeRefusals },
};

const WRITES = { access: 'jobs:write' } as const;

const RETRY = {
  operationId: 'retryJob',
  tags: ['jobs'],
  summary: 'Retry a job',
  description:
    'Requeues a failed or cancelled job; any other state returns 409. Its earlier attempts and ' +
    'events are kept. Its hooks run again when it finishes again.',
  params: JobIdParams,
  body: RetryBody,
  response: { 202: answer('The job was requeued.', AcceptedAnswer), ...retryRefusals },
};

const SIGNAL = {
  operationId: 'signalJob',
  tags: ['jobs'],
  summary: 'Send a signal to a job',
  description:
    'Stores the signal. A job that waits for it (ctx.waitFor) continues with the payload; any other ' +
    'unfinished job gets it when it waits. Each signal of a job is stored once: the same payload ' +
    'again returns duplicate, another one 409. A finished job returns 409.',
  params: SignalParams,
  body: SignalBody,
  response: { 202: answer('The signal is stored.', SignalAnswer), ...signalRefusals },
};

const DELETE = {
  operationId: 'deleteJob',
  tags: ['jobs'],
  summary: 'Delete a job',
  description:
    'Deletes a finished job with its attempts, events and logs. Its idempotency key becomes ' +
    'free. An unfinished job returns 409: cancel it first.',
  params: JobIdParams,
  response: { 204: z.null().describe('The job was deleted.'), ...changeRefusals },
};

export function changeJobRoutes(app: FastifyInstance, { db, enqueuer }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    '/v1/jobs/:jobId/cancel',
    { schema: CANCEL, config: WRITES },
    async (request, reply) => {
      const jobId = wellFormed(request.params.jobId);
      const { children } = parseCancel(request.body);
      const cancel = children ? cancelFamily : cancelAlone;
      const result = await cancel(db, tenantOf(request), jobId, actorOf(request));
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

  typed.post(
    '/v1/jobs/:jobId/signals/:name',
    { schema: SIGNAL, config: WRITES },
    async (request, reply) => {
      const jobId = wellFormed(request.params.jobId);
      const signal = parseSignal(request.params.name, request.body);
      const sent = await sendSignal(db, tenantOf(request), jobId, signal, actorOf(request));
      return reply.code(202).send(sent ?? noSuchJob(jobId));
    },
  );

  typed.delete('/v1/jobs/:jobId', { schema: DELETE, config: WRITES }, async (request, reply) => {
    const jobId = wellFormed(request.params.jobId);
    parseNothing(request.body);
    const result = await deleteJob(db, tenantOf(request), jobId, actorOf(request));
    accepted(jobId, result, 'delete');
    return reply.code(204).send(null);
  });
}
