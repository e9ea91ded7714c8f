import type { Scope } from '../access/scope.ts';
import type { SsoUser } from './sso-user.ts';

/** A session of a browser, as shown by the API, the SDK, the CLI and the dashboard. */
export interface SessionView {
  sessionId: string;
  tenant: string;
  /** The key it began with; null for a user of the identity provider. */
  keyId: string | null;
  keyName: string | null;
  user: SsoUser | null;
  scopes: Scope[];
  createdAt: string;
  /** Last use, to the minute. It ends an hour later. */
  seenAt: string;
  /** Its latest end. */
  expiresAt: string;
  /** Address and browser of the sign-in. */
  address: string | null;
  userAgent: string | null;
}

const SESSION_ID = /^[0-9a-f]{16}$/;

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}
