import type { FastifyReply } from 'fastify';
import { SIGN_IN_FAILURES, type SignInError } from '../../../core/identity/sign-in-error.ts';
import type { TenantRights } from '../../../core/identity/group-rules.ts';
import { type Markup, markup } from '../../docs/markup.ts';
import { DOCS_POLICY, DOCS_STYLE } from '../../docs/style.ts';

/** Pages between the identity provider and the dashboard, for what a redirect cannot say. */
const STATUSES: Record<SignInError['reason'], number> = {
  stale: 400,
  denied: 403,
  invalid: 400,
  'no-access': 403,
  unavailable: 503,
};

export function sendFailure(
  reply: FastifyReply,
  { reason, message }: SignInError,
  publicUrl: string,
): FastifyReply {
  const body = markup`<h1>You are not signed in</h1>
<p><strong>${SIGN_IN_FAILURES[reason]}</strong></p>
<p>${message}</p>
<p>${retryLink(reason, publicUrl)} or
<a href="${publicUrl}/ui/">sign in with an API key</a>.</p>`;
  return send(reply.code(STATUSES[reason]), 'Not signed in', body);
}

/** The identity provider still knows a user without access, and would not ask. */
function retryLink(reason: SignInError['reason'], publicUrl: string): Markup {
  return reason === 'no-access'
    ? markup`<a href="${beginUrl(publicUrl, { prompt: 'login' })}">Sign in as another user</a>`
    : markup`<a href="${beginUrl(publicUrl)}">Try again</a>`;
}

/** The identity provider still knows the user, so the second sign-in asks for nothing. */
export function sendChoice(
  reply: FastifyReply,
  rights: readonly TenantRights[],
  to: string,
  publicUrl: string,
): FastifyReply {
  const items = rights.map(
    ({ tenant, scopes }) =>
      markup`<li><a href="${beginUrl(publicUrl, { to, tenant })}">${tenant}</a>
<span class="about">${scopes.join(', ')}</span></li>`,
  );
  const body = markup`<h1>Choose a tenant</h1>
<p>Your groups give access to several tenants. A session is for one of them.</p>
<ul>${items}</ul>`;
  return send(reply.code(200), 'Choose a tenant', body);
}

export function beginUrl(publicUrl: string, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `${publicUrl}/v1/sign-in/sso${text === '' ? '' : `?${text}`}`;
}

function send(reply: FastifyReply, title: string, body: Markup): FastifyReply {
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Longshore</title>
${DOCS_STYLE}
</head>
<body>
<header><span class="brand">Longshore</span></header>
<main class="alone">${body}</main>
</body>
</html>
`;
  return reply
    .header('content-security-policy', DOCS_POLICY)
    .type('text/html; charset=utf-8')
    .send(page.text);
}
