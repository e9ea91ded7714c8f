import { TRANSACTION_MS } from '../../identity/transaction.ts';

/**
 * The cookie of a sign-in in progress. SameSite=Lax, because the identity provider, another site,
 * sends the browser back. Over HTTPS it is Secure with the `__Host-` prefix, as the session cookie.
 */
const NAME = 'longshore_sign_in';
const VALUE = /^[\w-]{1,4096}$/;
const RULES = 'Path=/; HttpOnly; SameSite=Lax';

export function readSignInCookie(header: string | undefined, publicUrl: string): string | null {
  const wanted = nameFor(publicUrl);
  const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  const [value, ...more] = pairs.flatMap(([name, text = '']) => (name === wanted ? text : []));
  // If there are two, one was planted.
  return value !== undefined && more.length === 0 && VALUE.test(value) ? value : null;
}

export function signInCookie(sealed: string, publicUrl: string): string {
  return `${nameFor(publicUrl)}=${sealed}; ${rulesFor(publicUrl)}; Max-Age=${TRANSACTION_MS / 1_000}`;
}

export function endedSignInCookie(publicUrl: string): string {
  return `${nameFor(publicUrl)}=; ${rulesFor(publicUrl)}; Max-Age=0`;
}

function nameFor(publicUrl: string): string {
  return isSecure(publicUrl) ? `__Host-${NAME}` : NAME;
}

function rulesFor(publicUrl: string): string {
  return isSecure(publicUrl) ? `${RULES}; Secure` : RULES;
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
