import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SignInError } from '../../../core/identity/sign-in-error.ts';
import { userActor } from '../../../core/identity/sso-user.ts';
import type { SignInCounts } from '../../../metrics/sign-in-counts.ts';
import { SignInAnswer } from '../../../protocol/answers/session-answer.ts';
import { CallbackQuery, SignInQuery } from '../../../protocol/sign-in-query.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { beginSession } from '../../../store/access/sessions.ts';
import type { SignIn } from '../../../identity/sign-in.ts';
import type { Callers } from '../../access/callers.ts';
import { sessionCookie } from '../../access/session-cookie.ts';
import { endedSignInCookie, readSignInCookie, signInCookie } from '../../access/sign-in-cookie.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';
import { beginUrl, sendChoice, sendFailure } from './sign-in-page.ts';

const page = (status: number, description: string) => ({
  [status]: answer(description, z.string(), 'text/html'),
});

const METHODS = {
  operationId: 'getSignIn',
  tags: ['access'],
  summary: 'Get the ways to sign in',
  description: 'A key can always be used: POST /v1/session.',
  response: { 200: answer('The ways.', SignInAnswer), ...refusals() },
};

const BEGIN = {
  operationId: 'beginSignIn',
  tags: ['access'],
  summary: 'Begin a sign-in through the identity provider',
  description: 'For browsers: leads to the provider, which leads back to the callback.',
  querystring: SignInQuery,
  response: {
    302: z.null().describe('To the identity provider.'),
    ...refusals('NOT_FOUND'),
    ...page(503, 'The identity provider cannot be reached.'),
  },
};

const CALLBACK = {
  operationId: 'finishSignIn',
  tags: ['access'],
  summary: 'Finish a sign-in through the identity provider',
  description:
    'For browsers, on the way back from the provider: begins a session of the user and leads to ' +
    'the dashboard.',
  querystring: CallbackQuery,
  response: {
    ...refusals('NOT_FOUND', 'RATE_LIMITED'),
    ...page(200, 'The user has access to several tenants and chooses one.'),
    302: z.null().describe('To the dashboard.'),
    ...page(400, 'The sign-in is stale, or the answer of the provider is not valid.'),
    ...page(403, 'The provider or the groups of the user give no access.'),
    ...page(503, 'The identity provider cannot be reached.'),
  },
};

export function signInRoutes(
  app: FastifyInstance,
  { db, log, signIn }: HttpDeps,
  callers: Callers,
  signIns: SignInCounts,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'public' } as const;

  app.get('/v1/sign-in', { schema: METHODS, config }, async () => ({
    sso: signIn ? { url: beginUrl(signIn.publicUrl), hasTenants: signIn.hasTenants } : null,
  }));

  /** The user sees a page; the log has no token and no query. */
  const errorHandler = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    if (!(error instanceof SignInError) || !signIn) throw error;
    const { reason, message: detail } = error;
    signIns.count('sso', reason);
    log.warn({ method: 'sso', reason, detail, address: request.clientAddress }, 'sign-in refused');
    void reply.header('set-cookie', endedSignInCookie(signIn.publicUrl));
    sendFailure(reply, error, signIn.publicUrl);
  };

  typed.get('/v1/sign-in/sso', { schema: BEGIN, config, errorHandler }, async (request, reply) => {
    const provider = configured(signIn);
    const { to, tenant = null, prompt } = request.query;
    const asksAgain = prompt === 'login';
    const { url, sealed } = await provider.begin({ to, tenant }, { asksAgain });
    void reply.header('set-cookie', signInCookie(sealed, provider.publicUrl));
    return reply.redirect(url, 302);
  });

  const callback = { schema: CALLBACK, config, errorHandler };
  typed.get('/v1/sign-in/sso/callback', callback, async (request, reply) => {
    const provider = configured(signIn);
    const { publicUrl } = provider;
    callers.countSignIn(request, reply);
    const sealed = readSignInCookie(request.headers.cookie, publicUrl);
    const query = request.url.slice(request.url.indexOf('?') + 1);
    const { user, rights, chosen, to } = await provider.finish(query, sealed);
    const ended = endedSignInCookie(publicUrl);
    if (!chosen) return sendChoice(reply.header('set-cookie', ended), rights, to, publicUrl);
    const { tenant, scopes } = chosen;
    if (!(await callers.hasTenant(tenant))) throw noSuchTenant(tenant);
    callers.countLogin(`${user.issuer} ${user.subject}`, reply);
    const by = { name: userActor(user), address: request.clientAddress };
    const owner = { tenant, keyId: null, user, scopes };
    const agent = request.headers['user-agent'] ?? null;
    const { secret } = await beginSession(db, by, owner, agent);
    callers.sessionBegan();
    signIns.count('sso', 'ok');
    void reply.header('set-cookie', [sessionCookie(secret, publicUrl), ended]);
    return reply.redirect(`${publicUrl}${to}`, 302);
  });
}

function configured(signIn: HttpDeps['signIn']): SignIn {
  if (signIn) return signIn;
  throw new Refusal('NOT_FOUND', 'this server has no identity provider: set LONGSHORE_OIDC_ISSUER');
}

function noSuchTenant(tenant: string): SignInError {
  return new SignInError(
    'no-access',
    `Your groups give access to the tenant "${tenant}", which does not exist. An administrator ` +
      'can create it.',
  );
}
