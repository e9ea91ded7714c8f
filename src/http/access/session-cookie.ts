import { SESSION_MS } from '../../store/access/sessions.ts';

/**
 * The session cookie: HttpOnly and SameSite=Strict. After a login over HTTPS, which the Origin or
 * the public URL shows, it is Secure with the `__Host-` prefix, so that no other host, not even a subdomain, can
 * set it.
 */
const NAME = 'longshore_session';
const HOST_NAME = `__Host-${NAME}`;
const VALUE = /^[0-9a-f]{64}$/;
const CANDIDATES_MAX = 4;

/**
 * All session cookies of a request. Without HTTPS another site of the same domain, or another port,
 * can plant a second cookie with a longer path that the browser sends first. So all are read, the
 * `__Host-` one first, and the known one counts.
 */
export function readSessionCookies(header: string | undefined): string[] {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  const called = (wanted: string) =>
    pairs.flatMap(([name, value = '']) => (name === wanted && VALUE.test(value) ? value : []));
  const own = called(HOST_NAME);
  return [...new Set(own.length > 0 ? own : called(NAME))].slice(0, CANDIDATES_MAX);
}

export function sessionCookie(secret: string, origin: string | undefined): string {
  const isSecure = origin?.startsWith('https:') ?? false;
  return isSecure
    ? `${HOST_NAME}=${secret}; ${RULES}; Max-Age=${SESSION_MS / 1_000}; Secure`
    : `${NAME}=${secret}; ${RULES}; Max-Age=${SESSION_MS / 1_000}`;
}

const RULES = 'Path=/; HttpOnly; SameSite=Strict';

export const ENDED_COOKIES = [
  `${NAME}=; ${RULES}; Max-Age=0`,
  `${HOST_NAME}=; ${RULES}; Max-Age=0; Secure`,
];
