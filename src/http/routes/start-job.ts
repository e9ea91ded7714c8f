import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { JobRequest } from '../../core/new-job.ts';
import { AcceptedAnswer, BatchAnswer } from '../../protocol/job-answer.ts';
import { BATCH_MAX, BatchBody, JobBody } from '../../protocol/job-body.ts';
import { parseBatch, parseJob } from '../../protocol/parse-job.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { IdempotencyConflict, type EnqueuedJob, type Inbox } from '../../store/inbox.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, refusals } from '../openapi.ts';
import { tenantOf } from '../tenant.ts';

export const BODY_MAX_BYTES = 1024 * 1024;
export const BATCH_BODY_MAX_BYTES = 16 * 1024 * 1024;

const bodyRefusals = refusals(
  'PAYLOAD_INVALID',
  'INVALID_JSON',
  'FORBIDDEN',
  'IDEMPOTENCY_CONFLICT',
  'QUOTA_EXCEEDED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNAVAILABLE',
);

const START = {
  operationId: 'startJob',
  tags: ['jobs'],
  summary: 'Start a job',
  description:
    'Stores the job; when the answer arrives it is durable. The same idempotency key of the same ' +
    'definition answers with the first job again, or refuses when the params differ. A ' +
    'definition that nobody has published yet is accepted: its worker may not be up.',
  headers: z.object({
    'idempotency-key': z.string().optional().describe('Instead of idempotencyKey in the body.'),
  }),
  body: JobBody,
  response: { 202: answer('The job is stored.', AcceptedAnswer), ...bodyRefusals },
};

const START_BATCH = {
  operationId: 'startJobs',
  tags: ['jobs'],
  summary: 'Start many jobs at once',
  description:
    `Stores 1 to ${BATCH_MAX} jobs in one transaction. One bad entry refuses them all, with a ` +
    'pointer like /jobs/17/priority. The body may have 16 MB.',
  body: BatchBody,
  response: { 202: answer('All jobs are stored.', BatchAnswer), ...bodyRefusals },
};

const WRITES = { access: 'jobs:write' } as const;

export function startJobRoutes(app: FastifyInstance, { inbox }: HttpDeps): void {
  app.post(
    '/v1/jobs',
    { schema: START, config: WRITES, bodyLimit: BODY_MAX_BYTES },
    async (request, reply) => {
      const job = parseJob(request.body, tenantOf(request), idempotencyHeader(request));
      const [stored] = await start(inbox, [job], () => '');
      return reply.code(202).header('location', `/v1/jobs/${stored?.jobId}`).send(accepted(stored));
    },
  );

  app.post(
    '/v1/jobs/batch',
    { schema: START_BATCH, config: WRITES, bodyLimit: BATCH_BODY_MAX_BYTES },
    async (request, reply) => {
      const jobs = parseBatch(request.body, tenantOf(request), idempotencyHeader(request));
      const stored = await start(inbox, jobs, (index) => `/jobs/${index}`);
      return reply.code(202).send({ jobs: stored.map(accepted) });
    },
  );
}

/** The store tells which request clashed; the caller wants to know where that is in the body. */
async function start(
  inbox: Inbox,
  jobs: readonly JobRequest[],
  pointerOf: (index: number) => string,
): Promise<EnqueuedJob[]> {
  try {
    return await inbox.start(jobs);
  } catch (error) {
    if (!(error instanceof IdempotencyConflict)) throw error;
    const pointer = `${pointerOf(error.index)}/idempotencyKey`;
    const detail = 'this key was used for a job with other params';
    const errors = [{ pointer, detail }];
    throw new Refusal('IDEMPOTENCY_CONFLICT', `${pointer}: ${detail}`, { errors });
  }
}

function accepted(job: EnqueuedJob | undefined): AcceptedAnswer {
  if (!job) throw new Error('the store answered fewer jobs than it was given');
  return { jobId: job.jobId, status: job.status };
}

function idempotencyHeader(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  return Array.isArray(header) ? header.join(', ') : header;
}
