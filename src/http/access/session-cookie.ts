import { SESSION_MS } from '../../store/access/sessions.ts';

/**
 * The session of a browser. No script can read it, and no other site can make the browser send it. When
 * it was made by an encrypted connection, which the Origin of the login tells, it is kept to such, and its
 * name says to the browser that no other host may set it, not even one below the same domain.
 */
const NAME = 'longshore_session';
const HOST_NAME = `__Host-${NAME}`;
const VALUE = /^[0-9a-f]{64}$/;
const CANDIDATES_MAX = 4;

/**
 * Mostly one. Without encryption another site below the same domain, or on another port of this machine,
 * can plant a second one, for a longer path, that the browser sends first: so all of them are read, and
 * the one that is known here counts. One that nobody else can set goes before all others.
 */
export function readSessionCookies(header: string | undefined): string[] {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  const called = (wanted: string) =>
    pairs.flatMap(([name, value = '']) => (name === wanted && VALUE.test(value) ? value : []));
  const own = called(HOST_NAME);
  return [...new Set(own.length > 0 ? own : called(NAME))].slice(0, CANDIDATES_MAX);
}

export function sessionCookie(sessionId: string, origin: string | undefined): string {
  const isSecure = origin?.startsWith('https:') ?? false;
  return isSecure
    ? `${HOST_NAME}=${sessionId}; ${RULES}; Max-Age=${SESSION_MS / 1_000}; Secure`
    : `${NAME}=${sessionId}; ${RULES}; Max-Age=${SESSION_MS / 1_000}`;
}

const RULES = 'Path=/; HttpOnly; SameSite=Strict';

export const ENDED_COOKIES = [
  `${NAME}=; ${RULES}; Max-Age=0`,
  `${HOST_NAME}=; ${RULES}; Max-Age=0; Secure`,
];
