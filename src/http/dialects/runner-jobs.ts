import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { SEED_004_STATUSES, statusIn } from '../../core/views/dialect.ts';
import {
  EnqueuedAnswer,
  runnerJobAnswer,
  RunnerJobAnswer,
} from '../../protocol/answers/dialect-answer.ts';
import { EnqueueBody } from '../../protocol/requests/dialect-body.ts';
import { JobIdParams } from '../../protocol/answers/job-answer.ts';
import { NoQuery } from '../../protocol/requests/job-query.ts';
import { parseEnqueue } from '../../protocol/requests/parse-dialect.ts';
import { RetryBody } from '../../protocol/requests/retry-body.ts';
import { getJob } from '../../store/read/get-job.ts';
import { readAttempts } from '../../store/read/read-attempts.ts';
import { retry, retryRefusals } from '../change.ts';
import type { HttpDeps } from '../deps.ts';
import { noSuchJob, wellFormed } from '../cursors/job-path.ts';
import { answer, refusals } from '../openapi.ts';
import { errorHandler, refusalOf, sendProblem } from '../problem.ts';
import type { Redaction } from '../access/redaction.ts';
import { startOne } from '../../enqueue/start-jobs.ts';
import { BODY_MAX_BYTES, startRefusals, traced } from '../start.ts';
import { tenantOf } from '../access/tenant.ts';

/** Seed 004; its `POST /api/jobs/run` is in `run-due.ts`. */
const ENQUEUE = {
  operationId: 'enqueueJob',
  tags: ['dialects'],
  summary: 'Enqueue a job (API of seed 004)',
  description:
    'The same idempotency key of the same tenant always returns the first job. Errors thrown by ' +
    'the job are not retried. A job without a worker fails. The error of an invalid payload has ' +
    'the name EnqueueError.',
  body: EnqueueBody,
  response: { 202: answer('The job is stored.', EnqueuedAnswer), ...startRefusals },
};

const GET = {
  operationId: 'getEnqueuedJob',
  tags: ['dialects'],
  summary: 'Get a job (API of seed 004)',
  params: JobIdParams,
  querystring: NoQuery,
  response: { 200: answer('The job.', RunnerJobAnswer), ...refusals('NOT_FOUND', 'UNAVAILABLE') },
};

const RETRY = {
  operationId: 'retryEnqueuedJob',
  tags: ['dialects'],
  summary: 'Retry a job (API of seed 004)',
  description: 'Retries a dead letter; any other status returns 409.',
  params: JobIdParams,
  body: RetryBody,
  response: { 202: answer('The job was requeued.', EnqueuedAnswer), ...retryRefusals },
};

export function runnerJobsRoutes(
  app: FastifyInstance,
  { db, enqueuer, log }: HttpDeps,
  redaction: Redaction,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const otherwise = errorHandler(log);
  const onError = (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalOf(error);
    if (!refusal?.code.startsWith('PAYLOAD_')) return otherwise(error, request, reply);
    sendProblem(reply, refusal, { name: 'EnqueueError' });
  };

  app.post(
    '/api/jobs/enqueue',
    {
      schema: ENQUEUE,
      bodyLimit: BODY_MAX_BYTES,
      errorHandler: onError,
      config: { access: 'jobs:write' },
    },
    async (request, reply) => {
      const { jobId, status } = await startOne(
        enqueuer,
        traced(request, parseEnqueue(request.body, tenantOf(request))),
        { paramsField: 'payload', keyField: 'type' },
      );
      return reply.code(202).send({ id: jobId, status: statusIn(SEED_004_STATUSES, status) });
    },
  );

  typed.get(
    '/api/jobs/:jobId',
    { schema: GET, config: { access: 'jobs:read' } },
    async (request) => {
      const jobId = wellFormed(request.params.jobId);
      const job = (await getJob(db, tenantOf(request), jobId)) ?? noSuchJob(jobId);
      const attempts = (await readAttempts(db, tenantOf(request), jobId)) ?? noSuchJob(jobId);
      const shown = await redaction.attempts(job, attempts);
      return runnerJobAnswer(await redaction.job(job), shown);
    },
  );

  typed.post(
    '/api/jobs/:jobId/retry',
    { schema: RETRY, config: { access: 'jobs:write' } },
    async (request, reply) => {
      const { jobId, status } = await retry(request, request.params.jobId, { db, enqueuer });
      return reply.code(202).send({ id: jobId, status: statusIn(SEED_004_STATUSES, status) });
    },
  );
}
