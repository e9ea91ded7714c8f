import { nearestName } from '../values/nearest.ts';

/** What a key may do. A key has a set of these, within one tenant. */
export const SCOPES = {
  'jobs:read': 'Read jobs, schedules, definitions, workers, alerts and usage.',
  'jobs:write': 'Start, cancel, release and retry jobs.',
  'jobs:reveal': 'See values that are otherwise redacted; each use is audited.',
  operate:
    'Change schedules, alerts and budgets, manage webhooks, pause and limit definitions, drain workers, run what is due.',
  worker: 'Run a worker over HTTP: claim, run and settle jobs.',
  admin: 'Everything, keys and the audit log included.',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

/** The default tenant. Its keys also manage what all tenants share. */
export const DEFAULT_TENANT = 'default';

export const TENANT_SHAPE = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The answer to a tenant that was not created yet. `known` is only for who may see all tenants. */
export function tenantNotFound(tenant: string, known: readonly string[] = []): string {
  const name = tenant.slice(0, 63);
  const nearest = nearestName(name, known);
  const create = `"npx longshore tenants create ${name}" creates it`;
  const advice = nearest === null ? `; ${create}` : `: did you mean ${JSON.stringify(nearest)}?`;
  return `tenant ${JSON.stringify(name)} not found${advice}`;
}

/** Why the first key must be able to create others. */
export const FIRST_KEY_NEEDS_ADMIN =
  'The first key must have the scope admin: otherwise no key can create another one. ' +
  'Create an admin key first.';

/** The first key closes an open server. If it cannot create others, it locks everyone out. */
export function mayBeFirstKey(tenant: string, scopes: readonly Scope[]): boolean {
  return mayActForAll(tenant, scopes);
}

export function mayDo(scopes: readonly Scope[], wanted: Scope): boolean {
  return scopes.includes('admin') || scopes.includes(wanted);
}

/** Only an admin key of the default tenant may act for another tenant. */
export function mayActFor(tenant: string, scopes: readonly Scope[], other: string): boolean {
  return other === tenant || mayActForAll(tenant, scopes);
}

export function mayActForAll(tenant: string, scopes: readonly Scope[]): boolean {
  return tenant === DEFAULT_TENANT && scopes.includes('admin');
}
