import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { isJobId } from '../../core/job/job-id.ts';
import { AuditPageAnswer, AuditQuery } from '../../protocol/audit.ts';
import { listAudit } from '../../store/access/audit.ts';
import { nextLink, readHistoryCursor } from '../cursors/cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { SearchSlots } from '../edge/search-slots.ts';
import { answer, refusals } from '../openapi.ts';
import { tenantOf } from '../access/tenant.ts';

const LIST = {
  operationId: 'listAudit',
  tags: ['access'],
  summary: 'List audit entries',
  description: 'All changes made by users, newest first, page by page. The log is append-only.',
  querystring: AuditQuery,
  response: { 200: answer('A page of entries.', AuditPageAnswer), ...refusals('UNAVAILABLE') },
};

export function auditRoutes(app: FastifyInstance, { db }: HttpDeps, searches: SearchSlots): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'admin' } as const;

  typed.get('/v1/audit', { schema: LIST, config }, async (request, reply) => {
    const { actor, action, subject, q, after, before, cursor, limit } = request.query;
    const tenant = tenantOf(request);
    const list = async () =>
      await listAudit(db, {
        tenant,
        actor: actor ?? null,
        action: action ?? null,
        subject: subject ?? null,
        text: q ?? null,
        after: after ?? null,
        before: before ?? null,
        // The id of an entry is its cursor.
        afterId: cursor === undefined ? null : readHistoryCursor(cursor, isJobId),
        limit,
      });
    const { entries, nextId } = q === undefined ? await list() : await searches.run(tenant, list);
    if (nextId !== null) void reply.header('link', nextLink(request.url, nextId));
    return reply.send({ entries, nextCursor: nextId });
  });
}
