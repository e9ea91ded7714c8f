import { isKeyId } from '../core/access/api-key.ts';
import type { AuditView } from '../core/access/audit.ts';
import type { KeyView, TenantView } from '../core/views/key-view.ts';
import type { Scope } from '../core/access/scope.ts';
import { ProblemError } from './http/errors.ts';
import { tenantPath, type TenantLimitsChange } from './limits.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

export type ApiKey = KeyView;
export type Tenant = TenantView;
export type AuditEntry = AuditView;

export interface KeyOptions {
  /** A word for people: who or what has this key. */
  name: string;
  scopes: readonly Scope[];
  expiresAt?: Date | string | null | undefined;
}

/** The only time that the key itself is seen. */
export interface NewKey {
  keyId: string;
  key: string;
}

/** What can be done with API keys: `client.keys`. Needs an admin key. */
export class Keys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not sent again after a broken connection: there would be two, and one of them lost. */
  async create(options: KeyOptions): Promise<NewKey> {
    const path = '/v1/keys';
    return await this.#transport.call({ method: 'POST', path, body: options, repeatable: false });
  }

  async list(): Promise<ApiKey[]> {
    const call = { method: 'GET', path: '/v1/keys', repeatable: true } as const;
    return (await this.#transport.call<{ keys: ApiKey[] }>(call)).keys;
  }

  /** The old key goes on for the overlap; a day is usual. */
  async rotate(keyId: string, options: { overlapSeconds?: number } = {}): Promise<NewKey> {
    const path = `${pathOf(keyId)}/rotate`;
    return await this.#transport.call({ method: 'POST', path, body: options, repeatable: false });
  }

  async revoke(keyId: string): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: pathOf(keyId), repeatable: true });
  }
}

/** What can be done with tenants: `client.tenants`. Needs an admin key of the default tenant. */
export class Tenants {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async create(tenant: string): Promise<Tenant> {
    const call = { method: 'POST', path: '/v1/tenants', repeatable: false } as const;
    return await this.#transport.call({ ...call, body: { tenant } });
  }

  async list(): Promise<Tenant[]> {
    const call = { method: 'GET', path: '/v1/tenants', repeatable: true } as const;
    return (await this.#transport.call<{ tenants: Tenant[] }>(call)).tenants;
  }

  /** What is left out stays as it is. */
  async limit(tenant: string, change: TenantLimitsChange): Promise<Tenant> {
    const path = `${tenantPath(tenant)}/limits`;
    return await this.#transport.call({ method: 'PATCH', path, body: change, repeatable: true });
  }
}

export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
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

/** What is no id would be another path, so it is not sent at all. */
function pathOf(keyId: string): string {
  if (isKeyId(keyId)) return `/v1/keys/${keyId}`;
  throw new ProblemError(404, 'NOT_FOUND', `no key has the id "${keyId}"`);
}
