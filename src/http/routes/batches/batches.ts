import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { BATCH_JOBS_MAX } from '../../../core/batch/batch.ts';
import { PARAMS_MAX_BYTES } from '../../../core/job/params.ts';
import {
  addBatchJobs,
  createBatch,
  endBatch,
  noSuchBatch,
  retryUnsuccessful,
} from '../../../enqueue/batches.ts';
import {
  BatchesAnswer,
  BatchJobsAnswer,
  BatchViewAnswer,
} from '../../../protocol/answers/batch-answer.ts';
import {
  BatchesQuery,
  BatchIdParams,
  BatchJobsBody,
  BatchJobsQuery,
  NewBatchBody,
  parseBatchJobs,
  parseNewBatch,
} from '../../../protocol/requests/batches/batch-body.ts';
import { BATCH_MAX } from '../../../protocol/requests/job-body.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import { inSlices } from '../../../runtime/slices.ts';
import { listBatches, listBatchJobs, readBatch } from '../../../store/batches/read-batches.ts';
import { actorOf } from '../../access/caller.ts';
import { tenantOf } from '../../access/tenant.ts';
import { changeRefusals } from '../../change.ts';
import { makeCursor, nextLink, readCursor } from '../../cursors/cursor.ts';
import { makePositionCursor, readPositionCursor } from '../../cursors/position-cursor.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';
import { BATCH_BODY_MAX_BYTES, startRefusals, traced } from '../../start.ts';

const HEADERS = z.object({
  'idempotency-key': z
    .string()
    .optional()
    .describe('The same key again stores nothing and returns the same batch.'),
});

const CREATE = {
  operationId: 'createBatch',
  tags: ['batches'],
  summary: 'Make a batch of jobs',
  description:
    `Stores a batch with 0 to ${BATCH_MAX} jobs and its callbacks in one transaction. It ends when the ` +
    'last job has ended; an open batch accepts more jobs until it is closed, at most ' +
    `${BATCH_JOBS_MAX}. The body may have up to 16 MB.`,
  headers: HEADERS,
  body: NewBatchBody,
  response: {
    200: answer('An earlier request with this key made the batch.', BatchViewAnswer),
    201: answer('The batch is stored.', BatchViewAnswer),
    ...startRefusals,
  },
};

const ADD = {
  operationId: 'addBatchJobs',
  tags: ['batches'],
  summary: 'Add jobs to an open batch',
  description: `Stores 1 to ${BATCH_MAX} jobs in one transaction. A closed batch returns 409.`,
  params: BatchIdParams,
  headers: HEADERS,
  body: BatchJobsBody,
  response: {
    200: answer('The jobs are stored.', BatchViewAnswer),
    ...bodyRefusals(
      'PAYLOAD_INVALID',
      'UNREGISTERED',
      'IDEMPOTENCY_CONFLICT',
      'QUOTA_EXCEEDED',
      'NOT_FOUND',
      'BATCH_CLOSED',
      'CONFLICT',
    ),
  },
};

const CLOSE = {
  operationId: 'closeBatch',
  tags: ['batches'],
  summary: 'Close a batch',
  description: 'It accepts no more jobs, and ends when its last job has ended. May be repeated.',
  params: BatchIdParams,
  response: { 200: answer('The batch is closed.', BatchViewAnswer), ...changeRefusals },
};

const CANCEL = {
  operationId: 'cancelBatch',
  tags: ['batches'],
  summary: 'Cancel a batch and its jobs',
  description:
    'Cancels its jobs that have not ended; running ones are asked to stop. The batch accepts no more ' +
    'jobs, is cancelling until the last of them has ended, and then cancelled. May be repeated.',
  params: BatchIdParams,
  response: {
    200: answer('The batch is cancelling, or cancelled.', BatchViewAnswer),
    ...changeRefusals,
  },
};

const RETRY = {
  operationId: 'retryBatch',
  tags: ['batches'],
  summary: 'Retry the jobs of a batch that did not succeed',
  description:
    'Retries its jobs that failed or were cancelled, now, then the batch if it has ended: it waits for them ' +
    'again, and so does onSuccess. onComplete runs no second time. May be repeated.',
  params: BatchIdParams,
  response: { 200: answer('The batch.', BatchViewAnswer), ...changeRefusals },
};

const LIST = {
  operationId: 'listBatches',
  tags: ['batches'],
  summary: 'List batches',
  querystring: BatchesQuery,
  response: { 200: answer('Batches, newest first.', BatchesAnswer), ...refusals('UNAVAILABLE') },
};

const SHOW = {
  operationId: 'getBatch',
  tags: ['batches'],
  summary: 'Get a batch',
  params: BatchIdParams,
  response: {
    200: answer('The batch.', BatchViewAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const JOBS = {
  operationId: 'listBatchJobs',
  tags: ['batches'],
  summary: 'List the jobs of a batch',
  params: BatchIdParams,
  querystring: BatchJobsQuery,
  response: {
    200: answer('Jobs in the order in which they were stored.', BatchJobsAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const WRITES = { access: 'jobs:write' } as const;
const READS = { access: 'jobs:read' } as const;
/** Of a job without its params. */
const FIELDS_MAX_BYTES = 65_536;
const SORT = '-createdAt';

export function batchRoutes(app: FastifyInstance, { db, enqueuer, large }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const paramsMaxBytes = large?.limit('params') ?? PARAMS_MAX_BYTES;
  const bodyLimit = Math.max(BATCH_BODY_MAX_BYTES, paramsMaxBytes + FIELDS_MAX_BYTES);
  const given = (request: FastifyRequest) => {
    return { tenant: tenantOf(request), header: idempotencyHeader(request), paramsMaxBytes };
  };

  app.post('/v1/batches', { schema: CREATE, config: WRITES, bodyLimit }, async (request, reply) => {
    const parsed = await inSlices(parseNewBatch(request.body, given(request)));
    const { onComplete, onSuccess } = parsed;
    const { batch, created } = await createBatch({ db, enqueuer }, tenantOf(request), {
      ...parsed,
      jobs: parsed.jobs.map((job) => traced(request, job)),
      onComplete: onComplete && traced(request, onComplete),
      onSuccess: onSuccess && traced(request, onSuccess),
    });
    reply.header('location', `/v1/batches/${batch.id}`);
    return reply.code(created ? 201 : 200).send(batch);
  });

  typed.post(
    '/v1/batches/:batchId/jobs',
    { schema: ADD, config: WRITES, bodyLimit },
    async (request) => {
      const { batchId } = request.params;
      await exists(request, batchId);
      const { jobs, idempotencyKey } = await inSlices(parseBatchJobs(request.body, given(request)));
      const placed = jobs.map((job) => traced(request, job));
      const added = { jobs: placed, idempotencyKey };
      return await addBatchJobs({ db, enqueuer }, tenantOf(request), batchId, added);
    },
  );

  const exists = async (request: FastifyRequest, batchId: string) =>
    (await readBatch(db, tenantOf(request), batchId)) ?? noSuchBatch(batchId);

  for (const [how, schema] of Object.entries({ close: CLOSE, cancel: CANCEL })) {
    typed.post(`/v1/batches/:batchId/${how}`, { schema, config: WRITES }, async (request) => {
      parseNothing(request.body);
      const { batchId } = request.params;
      const by = actorOf(request);
      return await endBatch(db, tenantOf(request), batchId, how as 'close' | 'cancel', by);
    });
  }

  typed.post('/v1/batches/:batchId/retry', { schema: RETRY, config: WRITES }, async (request) => {
    parseNothing(request.body);
    const { batchId } = request.params;
    return await retryUnsuccessful(db, tenantOf(request), batchId, actorOf(request));
  });

  typed.get('/v1/batches', { schema: LIST, config: READS }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const afterId = cursor === undefined ? null : readCursor(cursor, SORT);
    const page = await listBatches(db, tenantOf(request), { afterId, limit });
    const nextCursor = page.nextId && makeCursor(SORT, page.nextId);
    if (nextCursor !== null) reply.header('link', nextLink(request.url, nextCursor));
    return { batches: page.batches, nextCursor };
  });

  typed.get('/v1/batches/:batchId', { schema: SHOW, config: READS }, async (request) =>
    exists(request, request.params.batchId),
  );

  typed.get(
    '/v1/batches/:batchId/jobs',
    { schema: JOBS, config: READS },
    async (request, reply) => {
      const { batchId } = request.params;
      const { limit, cursor, state = null } = request.query;
      const after = cursor === undefined ? null : readPositionCursor(cursor);
      const tenant = tenantOf(request);
      const page = await listBatchJobs(db, tenant, batchId, { state, after, limit });
      if (!page) return noSuchBatch(batchId);
      const nextCursor = page.next === null ? null : makePositionCursor(page.next);
      if (nextCursor !== null) reply.header('link', nextLink(request.url, nextCursor));
      return { jobs: page.jobs, nextCursor };
    },
  );
}

function idempotencyHeader(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  return Array.isArray(header) ? header.join(', ') : header;
}
