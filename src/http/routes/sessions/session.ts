import { keyActor } from '../../../core/identity/actor.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SessionAnswer, SignedOutAnswer } from '../../../protocol/answers/session-answer.ts';
import { LoginBody } from '../../../protocol/requests/key-body.ts';
import { parseBody } from '../../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import type { SignInCounts } from '../../../metrics/sign-in-counts.ts';
import { hashSecret } from '../../../store/access/keys.ts';
import { beginSession, endSession } from '../../../store/access/sessions.ts';
import { actorOf, callerOf } from '../../access/caller.ts';
import type { Callers } from '../../access/callers.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';
import { ENDED_COOKIES, readSessionCookies, sessionCookie } from '../../access/session-cookie.ts';

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
  description:
    'Ends the session in the database, so that copies of the cookie are invalid. The user stays ' +
    'signed in at the identity provider; if it has a sign-out, the response has its address.',
  response: {
    200: answer('Logged out here.', SignedOutAnswer),
    204: z.null().describe('Logged out.'),
    ...bodyRefusals(),
  },
};

export function sessionRoutes(
  app: FastifyInstance,
  { db, log, signIn }: HttpDeps,
  callers: Callers,
  signIns: SignInCounts,
): void {
  const login = { access: 'public' } as const;
  const known = { access: 'known' } as const;

  const refused = (error: unknown, { clientAddress: address }: FastifyRequest): never => {
    if (error instanceof Refusal && error.code === 'UNAUTHORIZED') {
      signIns.count('key', 'wrong-key');
      log.warn({ method: 'key', address }, 'sign-in refused: wrong key');
    }
    throw error;
  };

  const loginOptions = { schema: LOGIN, config: login, bodyLimit: LOGIN_BODY_MAX_BYTES };
  app.post('/v1/session', loginOptions, async (request, reply) => {
    const { key } = parseBody(LoginBody, request.body);
    const { keyId, keyName, tenant, scopes } = await callers
      .credential(key, request, reply)
      .catch((error: unknown) => refused(error, request));
    callers.countLogin(keyId, reply);
    const by = { name: keyActor('key', keyId, keyName), address: request.clientAddress };
    const owner = { tenant, keyId, user: null, scopes: null };
    const agent = request.headers['user-agent'] ?? null;
    const { secret, sessionId, expiresAt } = await beginSession(db, by, owner, agent);
    callers.sessionBegan();
    signIns.count('key', 'ok');
    void reply.header('set-cookie', sessionCookie(secret, request.headers.origin));
    const who = { kind: 'session', tenant, scopes, keyId, sessionId, user: null, expiresAt };
    return reply.code(201).send(who);
  });

  app.get('/v1/session', { schema: WHO, config: known }, async (request) => {
    const { kind, home: tenant, scopes, keyId, sessionId, user, expiresAt } = callerOf(request);
    return { kind, tenant, scopes, keyId, sessionId, user, expiresAt };
  });

  app.delete('/v1/session', { schema: LOGOUT, config: known }, async (request, reply) => {
    parseNothing(request.body);
    for (const secret of readSessionCookies(request.headers.cookie)) {
      await endSession(db, actorOf(request), secret);
      callers.forgetSession(hashSecret(secret));
    }
    void reply.header('set-cookie', ENDED_COOKIES);
    const { user } = callerOf(request);
    // The session here has ended, whether the identity provider answers or not.
    const signOutUrl = user ? await signIn?.signOutUrl().catch(() => null) : null;
    if (!signOutUrl) return reply.code(204).send(null);
    return reply.send({ signOutUrl });
  });
}
