import { SignInError } from '../core/identity/sign-in-error.ts';
import type { Openid } from './openid.ts';

/** Refused because of our settings, not because of the user. */
const CLIENT_ERRORS = ['invalid_client', 'unauthorized_client'];

/** The error for the user. Tokens and codes are in the properties of the cause, never in its message. */
export function failureOf(error: unknown, openid: Openid): SignInError {
  if (error instanceof SignInError) return error;
  if (error instanceof openid.AuthorizationResponseError) {
    const more = error.error_description ? ` (${error.error_description})` : '';
    return new SignInError('denied', `The identity provider answered ${error.error}${more}.`);
  }
  const refused = error instanceof openid.ResponseBodyError ? error.error : null;
  if (error instanceof openid.WWWAuthenticateChallengeError || isClientError(refused)) {
    return new SignInError(
      'unavailable',
      'The identity provider refused this server: check LONGSHORE_OIDC_CLIENT_ID and ' +
        'LONGSHORE_OIDC_CLIENT_SECRET.',
    );
  }
  if (refused !== null) {
    return new SignInError('invalid', `The identity provider refused the code: ${refused}.`);
  }
  if (isUnreachable(error)) {
    return new SignInError('unavailable', `The identity provider cannot be reached${why(error)}.`);
  }
  return new SignInError(
    'invalid',
    `The answer of the identity provider is not valid${why(error)}.`,
  );
}

function isClientError(code: string | null): boolean {
  return code !== null && CLIENT_ERRORS.includes(code);
}

/** A broken connection, a time limit, or the error page of a proxy. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return ['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'].includes(
    String(code),
  );
}

/** The innermost cause says most: `fetch failed` alone says nothing. */
function why(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const words = cause instanceof Error ? cause.message || code : '';
  return `: ${words || error.message}`;
}
