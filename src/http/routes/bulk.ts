import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { isJobId } from '../../core/job/job-id.ts';
import {
  BulkAnswer,
  BulkIdParams,
  BulkPageAnswer,
  BulkPreviewAnswer,
} from '../../protocol/answers/bulk-answer.ts';
import { BulkBody, BulkQuery, parseBulk } from '../../protocol/requests/bulk-body.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { abortBulk, getBulk, listBulks } from '../../store/change/bulks.ts';
import { sendBulk } from '../bulk-reply.ts';
import { actorOf } from '../access/caller.ts';
import { foreignCursor, nextLink } from '../cursors/cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import type { Redaction } from '../access/redaction.ts';
import { tenantOf } from '../access/tenant.ts';

const START = {
  operationId: 'startBulk',
  tags: ['failures'],
  summary: 'Cancel, retry or delete many jobs',
  description:
    'Changes all jobs that match the filter at the time of the request, in the background and in ' +
    'batches. Jobs whose state has changed in the meantime are skipped. With preview it only ' +
    'returns the number of matches and a sample. A retry applies to failed jobs unless the filter ' +
    'has a status.',
  body: BulkBody,
  response: {
    200: answer('The preview.', BulkPreviewAnswer),
    202: answer('The bulk action was started.', BulkAnswer),
    ...bodyRefusals('PAYLOAD_INVALID'),
  },
};

const LIST = {
  operationId: 'listBulks',
  tags: ['failures'],
  summary: 'List bulk actions',
  description: 'Newest first.',
  querystring: BulkQuery,
  response: { 200: answer('A page of bulk actions.', BulkPageAnswer), ...refusals('UNAVAILABLE') },
};

const GET = {
  operationId: 'getBulk',
  tags: ['failures'],
  summary: 'Get a bulk action',
  params: BulkIdParams,
  response: {
    200: answer('The bulk action and its progress.', BulkAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const ABORT = {
  operationId: 'abortBulk',
  tags: ['failures'],
  summary: 'Stop a bulk action',
  description: 'Starts no further batch; changed jobs stay changed. A finished action returns 409.',
  params: BulkIdParams,
  response: {
    202: answer('The bulk action was stopped.', BulkAnswer),
    ...bodyRefusals('NOT_FOUND', 'CONFLICT'),
  },
};

const READS = { access: 'jobs:read' } as const;
const WRITES = { access: 'jobs:write' } as const;

export function bulkRoutes(app: FastifyInstance, { db }: HttpDeps, redaction: Redaction): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  app.post('/v1/bulk', { schema: START, config: WRITES }, async (request, reply) => {
    await sendBulk(request, reply, { db, redaction }, parseBulk(request.body));
  });

  typed.get('/v1/bulk', { schema: LIST, config: READS }, async (request, reply) => {
    const { cursor, limit } = request.query;
    const afterId = cursor === undefined ? null : idOf(cursor);
    const { bulks, nextId } = await listBulks(db, tenantOf(request), { afterId, limit });
    if (nextId !== null) void reply.header('link', nextLink(request.url, nextId));
    return reply.send({ bulks, nextCursor: nextId });
  });

  const find = async (tenant: string, bulkId: string) =>
    (isJobId(bulkId) ? await getBulk(db, tenant, bulkId) : null) ?? noSuchBulk(bulkId);

  typed.get('/v1/bulk/:bulkId', { schema: GET, config: READS }, async (request) =>
    find(tenantOf(request), request.params.bulkId),
  );

  typed.post(
    '/v1/bulk/:bulkId/abort',
    { schema: ABORT, config: WRITES },
    async (request, reply) => {
      parseNothing(request.body);
      const { bulkId } = request.params;
      const found = await find(tenantOf(request), bulkId);
      const aborted = await abortBulk(db, tenantOf(request), bulkId, actorOf(request));
      if (aborted) return reply.code(202).send(aborted);
      const { status } = found.status === 'running' ? await find(tenantOf(request), bulkId) : found;
      throw new Refusal('CONFLICT', `the bulk action is ${status} and cannot be stopped`);
    },
  );
}

/** Ids of bulk actions have the format of job ids. */
function idOf(cursor: string): string {
  if (!isJobId(cursor)) throw foreignCursor();
  return cursor;
}

function noSuchBulk(bulkId: string): never {
  const name = JSON.stringify(bulkId.slice(0, 60));
  throw new Refusal('NOT_FOUND', `bulk action ${name} not found`);
}
