import { SESSION_MS } from '../store/sessions.ts';

/**
 * The session of a browser. No script can read it, and no other site can make the browser send it. It
 * is kept to encrypted connections when it was made by one, which the Origin of the login tells.
 */
const NAME = 'longshore_session';
const IN_HEADER = new RegExp(`(?:^|;)\\s*${NAME}=([0-9a-f]{64})\\s*(?:;|$)`);

export function readSessionCookie(header: string | undefined): string | null {
  return IN_HEADER.exec(header ?? '')?.[1] ?? null;
}

export function sessionCookie(sessionId: string, origin: string | undefined): string {
  const secure = origin?.startsWith('https:') ? '; Secure' : '';
  return `${NAME}=${sessionId}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_MS / 1_000}${secure}`;
}

export const ENDED_COOKIE = `${NAME}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
