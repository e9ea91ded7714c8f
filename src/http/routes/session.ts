import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { SessionAnswer } from '../../protocol/answers/key-answer.ts';
import { LoginBody } from '../../protocol/requests/key-body.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { beginSession, endSession } from '../../store/access/sessions.ts';
import { actorOf, callerOf } from '../access/caller.ts';
import type { Callers } from '../access/callers.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import { ENDED_COOKIES, readSessionCookies, sessionCookie } from '../access/session-cookie.ts';

/** A key has about 100 characters, and the route is public. */
const LOGIN_BODY_MAX_BYTES = 4_096;

const LOGIN = {
  operationId: 'beginSession',
  tags: ['access'],
  summary: 'Log in with a key',
  description:
    'For browsers: sets an HttpOnly, SameSite=Strict cookie. The session ends after twelve hours, ' +
    'after one hour without a call, at DELETE, and with its key.',
  body: LoginBody,
  response: {
    201: answer('Logged in.', SessionAnswer),
    ...bodyRefusals('UNAUTHORIZED', 'RATE_LIMITED'),
  },
};

const WHO = {
  operationId: 'getSession',
  tags: ['access'],
  summary: 'Get the current caller',
  response: {
    200: answer('The caller and its scopes.', SessionAnswer),
    ...refusals('UNAVAILABLE'),
  },
};

const LOGOUT = {
  operationId: 'endSession',
  tags: ['access'],
  summary: 'Log out',
  description: 'Ends the session in the database, so that copies of the cookie are invalid.',
  response: {
    204: z.null().describe('Logged out.'),
    ...bodyRefusals(),
  },
};

export function sessionRoutes(app: FastifyInstance, { db }: HttpDeps, callers: Callers): void {
  const login = { access: 'public' } as const;
  const known = { access: 'known' } as const;

  const loginOptions = { schema: LOGIN, config: login, bodyLimit: LOGIN_BODY_MAX_BYTES };
  app.post('/v1/session', loginOptions, async (request, reply) => {
    const { key } = parseBody(LoginBody, request.body);
    const credential = await callers.credential(key, request, reply);
    const { keyId, tenant, scopes } = credential;
    callers.countLogin(keyId, reply);
    const by = { name: `key:${keyId}`, address: request.clientAddress };
    const { sessionId, expiresAt } = await beginSession(db, by, credential);
    callers.sessionBegan();
    void reply.header('set-cookie', sessionCookie(sessionId, request.headers.origin));
    return reply.code(201).send({ kind: 'session', tenant, scopes, keyId, expiresAt });
  });

  app.get('/v1/session', { schema: WHO, config: known }, async (request) => {
    const { kind, home: tenant, scopes, keyId, expiresAt } = callerOf(request);
    return { kind, tenant, scopes, keyId, expiresAt };
  });

  app.delete('/v1/session', { schema: LOGOUT, config: known }, async (request, reply) => {
    parseNothing(request.body);
    for (const sessionId of readSessionCookies(request.headers.cookie)) {
      await endSession(db, actorOf(request), callerOf(request).home, sessionId);
      callers.forgetSession(sessionId);
    }
    return reply.header('set-cookie', ENDED_COOKIES).code(204).send(null);
  });
}
