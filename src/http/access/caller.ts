import type { FastifyRequest } from 'fastify';
import type { Scope } from '../../core/access/scope.ts';
import { type SsoUser, userActor } from '../../core/identity/sso-user.ts';
import { ANONYMOUS, keyActor } from '../../core/identity/actor.ts';
import type { Actor } from '../../store/access/audit.ts';

/** The caller of a request, and the tenant it acts for. */
export interface Caller {
  /** `open`: any caller of a loopback server that never had a key, nor an identity provider. */
  kind: 'open' | 'key' | 'session';
  keyId: string | null;
  keyName: string | null;
  /** Public id of a session. */
  sessionId: string | null;
  /** Whom the identity provider signed in. */
  user: SsoUser | null;
  /** Tenant of the key or the user. */
  home: string;
  /** Tenant that the request acts for: `home`, or another one for admins of the default tenant. */
  tenant: string;
  scopes: readonly Scope[];
  /** The definitions that a worker with this key may serve; null means all. */
  definitions: readonly string[] | null;
  /** Latest end of a session. */
  expiresAt: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before the access check, and for public routes. */
    caller: Caller | null;
  }
}

export function callerOf({ caller, url }: FastifyRequest): Caller {
  if (!caller) throw new Error(`no caller was identified for ${url}`);
  return caller;
}

/** Why a call is refused: a key has scopes of its own, a user those of their groups. */
export function scopeMissing({ user }: Pick<Caller, 'user'>, scope: Scope): string {
  return user
    ? `your groups do not give you the scope ${scope}`
    : `the key lacks the scope ${scope}`;
}

/** The actor as written to the audit log. */
export function actorOf(request: FastifyRequest): Actor {
  const { kind, keyId, keyName, user } = callerOf(request);
  const isOfKey = keyId !== null && kind !== 'open';
  const name = user ? userActor(user) : isOfKey ? keyActor(kind, keyId, keyName) : ANONYMOUS;
  return { name, address: request.clientAddress };
}
