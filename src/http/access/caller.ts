import type { FastifyRequest } from 'fastify';
import type { Scope } from '../../core/access/scope.ts';
import type { Actor } from '../../store/access/audit.ts';

/** Who makes a request, and for whom. */
export interface Caller {
  /** `open` is anybody, on a loopback server that never had a key. */
  kind: 'open' | 'key' | 'session';
  keyId: string | null;
  /** The tenant that the key belongs to. */
  home: string;
  /** Whose things the request is about: the same one, or the one that an admin acts for. */
  tenant: string;
  scopes: readonly Scope[];
  /** When a session ends at the latest. */
  expiresAt: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until it was permitted, and for public routes. */
    caller: Caller | null;
  }
}

export function callerOf({ caller, url }: FastifyRequest): Caller {
  if (!caller) throw new Error(`nobody was permitted to ${url}`);
  return caller;
}

/** As the audit log names who did something. */
export function actorOf(request: FastifyRequest): Actor {
  const { kind, keyId } = callerOf(request);
  return { name: keyId === null ? kind : `${kind}:${keyId}`, address: request.clientAddress };
}
