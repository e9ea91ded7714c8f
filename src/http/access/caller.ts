import type { FastifyRequest } from 'fastify';
import type { Scope } from '../../core/access/scope.ts';
import type { Actor } from '../../store/access/audit.ts';

/** The caller of a request, and the tenant it acts for. */
export interface Caller {
  /** `open`: any caller of a loopback server that never had a key. */
  kind: 'open' | 'key' | 'session';
  keyId: string | null;
  /** Tenant of the key. */
  home: string;
  /** Tenant that the request acts for: `home`, or another one for admins of the host tenant. */
  tenant: string;
  scopes: readonly Scope[];
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

/** The actor as written to the audit log. */
export function actorOf(request: FastifyRequest): Actor {
  const { kind, keyId } = callerOf(request);
  return { name: keyId === null ? kind : `${kind}:${keyId}`, address: request.clientAddress };
}
