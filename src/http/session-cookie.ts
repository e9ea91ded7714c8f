import { SESSION_MS } from '../store/sessions.ts';

/**
 * The session of a browser. No script can read it, and no other site can make the browser send it. It
 * is kept to encrypted connections when it was made by one, which the Origin of the login tells.
 */
const NAME = 'longshore_session';
const VALUE = /^[0-9a-f]{64}$/;
const CANDIDATES_MAX = 4;

/**
 * Mostly one. Another site below the same domain can plant a second one, for a longer path, that the
 * browser sends first: so all of them are read, and the one that is known here counts.
 */
export function readSessionCookies(header: string | undefined): string[] {
  const found = (header ?? '').split(';').flatMap((pair) => {
    const [name, value = ''] = pair.trim().split('=', 2);
    return name === NAME && VALUE.test(value) ? value : [];
  });
  return [...new Set(found)].slice(0, CANDIDATES_MAX);
}

export function sessionCookie(sessionId: string, origin: string | undefined): string {
  const secure = origin?.startsWith('https:') ? '; Secure' : '';
  return `${NAME}=${sessionId}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_MS / 1_000}${secure}`;
}

export const ENDED_COOKIE = `${NAME}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
