import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { isJobId } from '../../core/job/job-id.ts';
import { AuditPageAnswer, AuditQuery } from '../../protocol/audit.ts';
import { listAudit } from '../../store/access/audit.ts';
import { nextLink, readHistoryCursor } from '../cursors/cursor.ts';
import type { HttpDeps } from '../deps.ts';
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

export function auditRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'admin' } as const;

  typed.get('/v1/audit', { schema: LIST, config }, async (request, reply) => {
    const { actor, action, subject, after, before, cursor, limit } = request.query;
    const { entries, nextId } = await listAudit(db, {
      tenant: tenantOf(request),
      actor: actor ?? null,
      action: action ?? null,
      subject: subject ?? null,
      after: after ?? null,
      before: before ?? null,
      // The id of an entry is its cursor.
      afterId: cursor === undefined ? null : readHistoryCursor(cursor, isJobId),
      limit,
    });
    if (nextId !== null) void reply.header('link', nextLink(request.url, nextId));
    return reply.send({ entries, nextCursor: nextId });
  });
}
