import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { SEED_001_STATUSES, statusIn } from '../../core/views/dialect.ts';
import {
  IntentAnswer,
  observedAnswer,
  ObservedAnswer,
} from '../../protocol/answers/dialect-answer.ts';
import { IntentBody } from '../../protocol/requests/dialect-body.ts';
import { JobIdParams } from '../../protocol/answers/job-answer.ts';
import { NoQuery } from '../../protocol/requests/job-query.ts';
import { parseIntent } from '../../protocol/requests/parse-dialect.ts';
import { getJob } from '../../store/read/get-job.ts';
import type { HttpDeps } from '../deps.ts';
import { noSuchJob, wellFormed } from '../cursors/job-path.ts';
import { answer, refusals } from '../openapi.ts';
import { startOne } from '../../enqueue/start-jobs.ts';
import { BODY_MAX_BYTES, startRefusals, traced } from '../start.ts';
import { tenantOf } from '../access/tenant.ts';

/** Seed 001: the API records intents and shows outcomes, but no internals. */
const CREATE = {
  operationId: 'createIntent',
  tags: ['dialects'],
  summary: 'Enqueue a job (API of seed 001)',
  description:
    'Stores the job durably before it responds. The same idempotency key of the same tenant ' +
    'always returns the first job.',
  body: IntentBody,
  response: { 202: answer('The job is stored.', IntentAnswer), ...startRefusals },
};

const OBSERVE = {
  operationId: 'observeIntent',
  tags: ['dialects'],
  summary: 'Get a job (API of seed 001)',
  description: 'Never shows payload, attempts, workers, leases or stacks.',
  params: JobIdParams,
  querystring: NoQuery,
  response: { 200: answer('The job.', ObservedAnswer), ...refusals('NOT_FOUND', 'UNAVAILABLE') },
};

export function intentRoutes(app: FastifyInstance, { db, enqueuer }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/jobs',
    { schema: CREATE, bodyLimit: BODY_MAX_BYTES, config: { access: 'jobs:write' } },
    async (request, reply) => {
      const { jobId, status } = await startOne(
        enqueuer,
        traced(request, parseIntent(request.body, tenantOf(request))),
        { paramsField: 'payload', keyField: 'jobType' },
      );
      return reply.code(202).send({ jobId, status: statusIn(SEED_001_STATUSES, status) });
    },
  );

  typed.get(
    '/jobs/:jobId',
    { schema: OBSERVE, config: { access: 'jobs:read' } },
    async (request) => {
      const jobId = wellFormed(request.params.jobId);
      return observedAnswer((await getJob(db, tenantOf(request), jobId)) ?? noSuchJob(jobId));
    },
  );
}
