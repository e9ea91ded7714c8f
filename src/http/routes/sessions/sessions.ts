import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { mayDo } from '../../../core/access/scope.ts';
import { SessionIdParams, SessionsAnswer } from '../../../protocol/answers/session-answer.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import { SessionsQuery } from '../../../protocol/sign-in-query.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import {
  listSessions,
  revokeSession,
  type SessionFilter,
} from '../../../store/access/session-list.ts';
import { actorOf, callerOf } from '../../access/caller.ts';
import type { Callers } from '../../access/callers.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';

const LIST = {
  operationId: 'listSessions',
  tags: ['access'],
  summary: 'List sessions of browsers',
  description:
    'The live sessions of the same key or user; with the scope admin, all of the tenant. The last ' +
    'used first, at most 1,000.',
  querystring: SessionsQuery,
  response: { 200: answer('The sessions.', SessionsAnswer), ...refusals('UNAVAILABLE') },
};

const REVOKE = {
  operationId: 'revokeSession',
  tags: ['access'],
  summary: 'Revoke a session',
  description:
    'One of the same key or user; with the scope admin, any of the tenant. Effective in all ' +
    'processes within a second.',
  params: SessionIdParams,
  querystring: SessionsQuery,
  response: { 204: z.null().describe('The session was revoked.'), ...bodyRefusals('NOT_FOUND') },
};

export function sessionsRoutes(app: FastifyInstance, { db }: HttpDeps, callers: Callers): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'known' } as const;

  app.get('/v1/sessions', { schema: LIST, config }, async (request) => ({
    sessions: await listSessions(db, filterOf(request)),
  }));

  typed.delete('/v1/sessions/:sessionId', { schema: REVOKE, config }, async (request, reply) => {
    const { sessionId } = request.params;
    parseNothing(request.body);
    const hash = await revokeSession(db, actorOf(request), filterOf(request), sessionId);
    if (hash === null) {
      const shown = JSON.stringify(sessionId.slice(0, 60));
      throw new Refusal('NOT_FOUND', `session ${shown} not found`);
    }
    callers.forgetSession(hash);
    return reply.code(204).send(null);
  });
}

/** The sessions that the caller may see and end. */
function filterOf(request: FastifyRequest): SessionFilter {
  const { tenant, scopes, keyId, user } = callerOf(request);
  if (mayDo(scopes, 'admin')) return { tenant, owner: null };
  return { tenant, owner: user ?? { keyId: keyId ?? '' } };
}
