import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  SearchValuesAnswer,
  ViewAnswer,
  ViewsAnswer,
} from '../../../protocol/answers/search-answer.ts';
import { parseBody } from '../../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import { ViewBody, ViewParams } from '../../../protocol/requests/search/view-body.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { deleteView, listViews, putView, TooManyViews } from '../../../store/access/views.ts';
import { searchValues } from '../../../store/read/search-values.ts';
import { actorOf } from '../../access/caller.ts';
import { tenantOf } from '../../access/tenant.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';

const VALUES = {
  operationId: 'listSearchValues',
  tags: ['jobs'],
  summary: 'List names to complete a search with',
  description: 'Definitions and owners that have jobs, and the codes and tags of recent jobs.',
  response: { 200: answer('The names.', SearchValuesAnswer), ...refusals('UNAVAILABLE') },
};

const LIST = {
  operationId: 'listViews',
  tags: ['jobs'],
  summary: 'List saved views',
  description: 'Searches that the people of the tenant share, by name.',
  response: { 200: answer('The views.', ViewsAnswer), ...refusals('UNAVAILABLE') },
};

const PUT = {
  operationId: 'saveView',
  tags: ['jobs'],
  summary: 'Save a view',
  description: 'Creates a view, or replaces the one with this name. May be repeated.',
  params: ViewParams,
  body: ViewBody,
  response: { 200: answer('The view.', ViewAnswer), ...bodyRefusals('CONFLICT') },
};

const DELETE = {
  operationId: 'deleteView',
  tags: ['jobs'],
  summary: 'Delete a saved view',
  params: ViewParams,
  response: { 204: z.null().describe('The view was deleted.'), ...bodyRefusals('NOT_FOUND') },
};

const READS = { access: 'jobs:read' } as const;
const WRITES = { access: 'jobs:write' } as const;

/** Saved views, and the names that complete a search. */
export function viewsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get('/v1/search-values', { schema: VALUES, config: READS }, async (request) =>
    searchValues(db, tenantOf(request)),
  );

  typed.get('/v1/views', { schema: LIST, config: READS }, async (request) => ({
    views: await listViews(db, tenantOf(request)),
  }));

  typed.put('/v1/views/:viewName', { schema: PUT, config: WRITES }, async (request) => {
    const name = nameOf(request.params);
    const body = parseBody(ViewBody, request.body);
    return await putView(db, actorOf(request), tenantOf(request), { name, ...body }).catch(
      (error: unknown) => {
        if (!(error instanceof TooManyViews)) throw error;
        throw new Refusal('CONFLICT', error.message);
      },
    );
  });

  typed.delete(
    '/v1/views/:viewName',
    { schema: DELETE, config: WRITES },
    async (request, reply) => {
      parseNothing(request.body);
      const { viewName: name } = request.params;
      if (await deleteView(db, actorOf(request), tenantOf(request), name)) {
        return reply.code(204).send(null);
      }
      throw new Refusal('NOT_FOUND', `view ${JSON.stringify(name.slice(0, 60))} not found`);
    },
  );
}

function nameOf({ viewName }: z.infer<typeof ViewParams>): string {
  const read = ViewParams.safeParse({ viewName });
  if (read.success) return viewName;
  const detail = read.error.issues[0]?.message ?? 'is invalid';
  const errors = [{ pointer: '/name', detail }];
  throw new Refusal('VALIDATION_FAILED', `/name: ${detail}`, { errors });
}
