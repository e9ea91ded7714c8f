import { call } from './call.ts';
import type { CallerView } from './queries.ts';

/** Sends the key once. The session is an HTTP-only cookie. */
export async function beginSession(key: string): Promise<CallerView> {
  return await call<CallerView>('POST', '/v1/session', { body: { key } });
}
