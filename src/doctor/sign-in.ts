import { type Check, ok, problem, warning } from './check.ts';

export interface SignInFacts {
  issuer: string;
  redirectUri: string;
  /** Why the identity provider cannot be used; null when it can. */
  trouble: string | null;
  /** Whether the provider knows the client and its redirect URI; null when it does not show it. */
  knowsClient: boolean | null;
  /** Whether the server accepts requests to the public address. */
  servesPublicHost: boolean;
  /** Whether the public address is https, or loopback. */
  isEncrypted: boolean;
}

/** API keys work without the identity provider, so an outage is a warning. */
export function judgeSignIn(facts: SignInFacts): Check {
  const { issuer, redirectUri, trouble, knowsClient, servesPublicHost, isEncrypted } = facts;
  const host = URL.parse(redirectUri)?.hostname ?? redirectUri;
  if (!servesPublicHost) {
    return problem(
      'sign-in',
      `requests to ${host}, the host of LONGSHORE_PUBLIC_URL, are refused`,
      `add ${host} to LONGSHORE_ALLOWED_HOSTS`,
    );
  }
  if (trouble !== null) {
    return warning(
      'sign-in',
      `${issuer}: ${trouble.replace(/\.$/, '')}`,
      'correct LONGSHORE_OIDC_ISSUER, or start the provider; API keys work meanwhile',
    );
  }
  if (knowsClient === false) {
    return warning(
      'sign-in',
      `${issuer} refuses the client with the redirect URI ${redirectUri}`,
      'register this URI at the provider, or correct LONGSHORE_OIDC_CLIENT_ID',
    );
  }
  if (!isEncrypted) {
    return warning(
      'sign-in',
      `${redirectUri} is not encrypted: others in the network can take over sessions`,
      'use https in LONGSHORE_PUBLIC_URL',
    );
  }
  return ok(
    'sign-in',
    knowsClient
      ? `${issuer} knows this client`
      : `${issuer} answers; it must know the redirect URI ${redirectUri}`,
  );
}
