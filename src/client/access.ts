import { isKeyId } from '../core/access/api-key.ts';
import type { AuditView } from '../core/access/audit.ts';
import type { SecretView } from '../core/access/secret.ts';
import type { KeyView, TenantView } from '../core/views/key-view.ts';
import type { Scope } from '../core/access/scope.ts';
import { isSessionId, type SessionView } from '../core/identity/session-view.ts';
import { notFound } from './http/problems.ts';
import { tenantPath, type TenantLimitsChange } from './limits.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

export type ApiKey = KeyView;
export type Session = SessionView;
export type Tenant = TenantView;
export type AuditEntry = AuditView;

export interface KeyOptions {
  /** For display: which person or program has this key. */
  name: string;
  scopes: readonly Scope[];
  /** For the scope worker: the definitions it may serve, such as `report.*`. Default all. */
  definitions?: readonly string[] | null | undefined;
  expiresAt?: Date | string | null | undefined;
}

/** The key itself is shown only here. */
export interface NewKey {
  keyId: string;
  key: string;
}

/** Whom the server takes the caller for, and what it may do. */
export interface CallerInfo {
  /** `open`: a loopback server that never had a key. */
  kind: 'open' | 'key' | 'session';
  tenant: string;
  scopes: Scope[];
  keyId: string | null;
}

/** API keys: `client.keys`. Needs an admin key. */
export class Keys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not repeated after a broken connection: the first key would exist and be lost. */
  async create(options: KeyOptions): Promise<NewKey> {
    const path = '/v1/keys';
    return await this.#transport.call({ method: 'POST', path, body: options, repeatable: false });
  }

  async list(): Promise<ApiKey[]> {
    const call = { method: 'GET', path: '/v1/keys', repeatable: true } as const;
    return (await this.#transport.call<{ keys: ApiKey[] }>(call)).keys;
  }

  /** The old key works during the overlap, by default one day. */
  async rotate(keyId: string, options: { overlapSeconds?: number } = {}): Promise<NewKey> {
    const path = `${pathOf(keyId)}/rotate`;
    return await this.#transport.call({ method: 'POST', path, body: options, repeatable: false });
  }

  async revoke(keyId: string): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: pathOf(keyId), repeatable: true });
  }
}

/** Sessions of browsers: `client.sessions`. Those of the own key; with an admin key all. */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The last used first. */
  async list(): Promise<Session[]> {
    const call = { method: 'GET', path: '/v1/sessions', repeatable: true } as const;
    return (await this.#transport.call<{ sessions: Session[] }>(call)).sessions;
  }

  /** Not repeated after a broken connection: it may have ended by then. */
  async revoke(sessionId: string): Promise<void> {
    if (!isSessionId(sessionId)) throw notFound('session', sessionId);
    const path = `/v1/sessions/${sessionId}`;
    await this.#transport.call({ method: 'DELETE', path, repeatable: false });
  }
}

/**
 * Tenants: `client.tenants`. Needs an admin key of the default tenant; the tenant that the client acts
 * for makes no difference.
 */
export class Tenants {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async create(tenant: string): Promise<Tenant> {
    const call = { method: 'POST', path: '/v1/tenants', repeatable: false, ofKey: true } as const;
    return await this.#transport.call({ ...call, body: { tenant } });
  }

  async list(): Promise<Tenant[]> {
    const call = { method: 'GET', path: '/v1/tenants', repeatable: true, ofKey: true } as const;
    return (await this.#transport.call<{ tenants: Tenant[] }>(call)).tenants;
  }

  /** Omitted fields stay unchanged. */
  async limit(tenant: string, change: TenantLimitsChange): Promise<Tenant> {
    const path = `${tenantPath(tenant)}/limits`;
    const call = { method: 'PATCH', path, repeatable: true, ofKey: true } as const;
    return await this.#transport.call({ ...call, body: change });
  }
}

/** A secret of jobs, without its value. */
export type Secret = SecretView;

export interface SecretOptions {
  /** Only for jobs of this definition; null or absent: for all definitions of the tenant. */
  definitionKey?: string | null | undefined;
}

/** Secrets of jobs: `client.secrets`. Needs an admin key. Values are never returned. */
export class Secrets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates it, or replaces its value. Jobs that start afterwards get it. */
  async set(name: string, value: string, options: SecretOptions = {}): Promise<Secret> {
    const body = { value, ...options };
    return await this.#transport.call({
      method: 'PUT',
      path: secretPath(name),
      body,
      repeatable: true,
    });
  }

  /** Of the tenant, or those that jobs of one definition get. */
  async list({ definitionKey }: { definitionKey?: string | undefined } = {}): Promise<Secret[]> {
    const call = { method: 'GET', path: '/v1/secrets', repeatable: true } as const;
    const query = queryOf({ definitionKey });
    return (await this.#transport.call<{ secrets: Secret[] }>({ ...call, query })).secrets;
  }

  /** Not repeated after a broken connection: it may be deleted by then. */
  async delete(name: string, { definitionKey }: SecretOptions = {}): Promise<void> {
    const query = queryOf({ definitionKey: definitionKey ?? undefined });
    const path = secretPath(name);
    await this.#transport.call({ method: 'DELETE', path, query, repeatable: false });
  }
}

export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  /** Part of the actor, action, subject, address or change, in any case. */
  q?: string | undefined;
  after?: Date | string | undefined;
  before?: Date | string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

export interface AuditPage {
  entries: AuditEntry[];
  nextCursor: string | null;
}

export async function readAudit(transport: Transport, filter: AuditFilter): Promise<AuditPage> {
  const query = queryOf(filter);
  return await transport.call({ method: 'GET', path: '/v1/audit', query, repeatable: true });
}

function secretPath(name: string): string {
  return `/v1/secrets/${encodeURIComponent(name)}`;
}

/** An invalid id could change the path, so no request is sent. */
function pathOf(keyId: string): string {
  if (isKeyId(keyId)) return `/v1/keys/${keyId}`;
  throw notFound('key', keyId);
}
