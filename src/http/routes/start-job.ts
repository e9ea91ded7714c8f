import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { EnqueueWarning } from '../../core/definition/enqueue-warning.ts';
import { PARAMS_MAX_BYTES } from '../../core/job/params.ts';
import { AcceptedAnswer, BatchAnswer } from '../../protocol/answers/job-answer.ts';
import { BATCH_MAX, BatchBody, JobBody } from '../../protocol/requests/job-body.ts';
import { parseBatchInSteps, parseJob } from '../../protocol/requests/parse-job.ts';
import { inSlices } from '../../runtime/slices.ts';
import { start, startOne } from '../../enqueue/start-jobs.ts';
import type { EnqueuedJob } from '../../store/enqueue/enqueue-entry.ts';
import type { HttpDeps } from '../deps.ts';
import { answer } from '../openapi.ts';
import { BATCH_BODY_MAX_BYTES, BODY_MAX_BYTES, startRefusals, traced } from '../start.ts';
import { tenantOf } from '../access/tenant.ts';

const START = {
  operationId: 'startJob',
  tags: ['jobs'],
  summary: 'Enqueue a job',
  description:
    'Stores the job durably before it responds. The same idempotency key of the same definition ' +
    'returns the first job again, or an error if the params differ. A definition that no worker ' +
    'has registered is accepted, since its worker may start later; the response then has a ' +
    'warning, with the nearest key if the given one looks mistyped.',
  headers: z.object({
    'idempotency-key': z.string().optional().describe('Alternative to idempotencyKey in the body.'),
  }),
  body: JobBody,
  response: { 202: answer('The job is stored.', AcceptedAnswer), ...startRefusals },
};

const START_BATCH = {
  operationId: 'startJobs',
  tags: ['jobs'],
  summary: 'Enqueue many jobs',
  description:
    `Stores 1 to ${BATCH_MAX} jobs in one transaction. One invalid entry rejects all, with a ` +
    'pointer like /jobs/17/priority. The body may have up to 16 MB.',
  body: BatchBody,
  response: { 202: answer('All jobs are stored.', BatchAnswer), ...startRefusals },
};

const WRITES = { access: 'jobs:write' } as const;
/** Of a job without its params. */
const FIELDS_MAX_BYTES = 65_536;

export function startJobRoutes(app: FastifyInstance, { enqueuer, large }: HttpDeps): void {
  const paramsMaxBytes = large?.limit('params') ?? PARAMS_MAX_BYTES;
  const bodyLimit = Math.max(BODY_MAX_BYTES, paramsMaxBytes + FIELDS_MAX_BYTES);
  app.post('/v1/jobs', { schema: START, config: WRITES, bodyLimit }, async (request, reply) => {
    const header = idempotencyHeader(request);
    const job = parseJob(request.body, tenantOf(request), header, paramsMaxBytes);
    const stored = await startOne(enqueuer, traced(request, job));
    const [warnings] = await enqueuer.warnings([job]);
    const receipt = accepted(stored, warnings);
    return reply.code(202).header('location', `/v1/jobs/${stored.jobId}`).send(receipt);
  });

  app.post(
    '/v1/jobs/batch',
    {
      schema: START_BATCH,
      config: WRITES,
      bodyLimit: Math.max(BATCH_BODY_MAX_BYTES, bodyLimit),
    },
    async (request, reply) => {
      const header = idempotencyHeader(request);
      const tenant = tenantOf(request);
      const steps = parseBatchInSteps(request.body, tenant, header, paramsMaxBytes);
      const jobs = await inSlices(steps);
      const placed = jobs.map((job) => traced(request, job));
      const stored = await start(enqueuer, placed, (index) => `/jobs/${index}`);
      const warnings = await enqueuer.warnings(jobs);
      const answers = stored.map((one, index) => accepted(one, warnings[index]));
      return reply.code(202).send({ jobs: answers });
    },
  );
}

/** Adds the warnings, for example about an unregistered definition, which may be mistyped. */
function accepted(
  { jobId, status }: EnqueuedJob,
  warnings: readonly EnqueueWarning[] = [],
): AcceptedAnswer {
  if (warnings.length === 0) return { jobId, status };
  return { jobId, status, warnings: warnings.map((warning) => ({ ...warning })) };
}

function idempotencyHeader(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  return Array.isArray(header) ? header.join(', ') : header;
}
