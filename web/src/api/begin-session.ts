import { call } from './call.ts';
import type { SessionView } from './queries.ts';

/** The key is sent once. What stays is a cookie that only the server reads. */
export async function beginSession(key: string): Promise<SessionView> {
  return await call<SessionView>('POST', '/v1/session', { body: { key } });
}
