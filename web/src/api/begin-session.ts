import { call } from './call.ts';
import type { SessionView } from './queries.ts';

/** Sends the key once. The session is an HTTP-only cookie. */
export async function beginSession(key: string): Promise<SessionView> {
  return await call<SessionView>('POST', '/v1/session', { body: { key } });
}
