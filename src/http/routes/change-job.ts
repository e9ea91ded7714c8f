import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { AcceptedAnswer, JobIdParams } from '../../protocol/job-answer.ts';
import { parseNothing } from '../../protocol/parse-nothing.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { cancelJob } from '../../store/cancel-job.ts';
import type { ChangeResult } from '../../store/change-job.ts';
import { releaseJob } from '../../store/release-job.ts';
import { actorOf } from '../caller.ts';
import type { HttpDeps } from '../deps.ts';
import { noSuchJob, wellFormed } from '../job-path.ts';
import { answer, refusals } from '../openapi.ts';
import { tenantOf } from '../tenant.ts';

const changeRefusals = refusals(
  'INVALID_JSON',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNAVAILABLE',
);

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

export function changeJobRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    '/v1/jobs/:jobId/cancel',
    { schema: CANCEL, config: WRITES },
    async (request, reply) => {
      const jobId = wellFormed(request.params.jobId);
      parseNothing(request.body);
      const result = await cancelJob(db, tenantOf(request), jobId, actorOf(request));
      return reply.code(202).send(accepted(jobId, result, 'it cannot be cancelled any more'));
    },
  );

  typed.post(
    '/v1/jobs/:jobId/release',
    { schema: RELEASE, config: WRITES },
    async (request, reply) => {
      const jobId = wellFormed(request.params.jobId);
      parseNothing(request.body);
      const result = await releaseJob(db, tenantOf(request), jobId, actorOf(request));
      return reply.code(202).send(accepted(jobId, result, 'only a created job can be released'));
    },
  );
}

function accepted(jobId: string, result: ChangeResult, why: string): AcceptedAnswer {
  if (result.kind === 'missing') return noSuchJob(jobId);
  if (result.kind === 'changed') return { jobId, status: result.status };
  throw new Refusal('CONFLICT', `the job is ${result.status}: ${why}`);
}
