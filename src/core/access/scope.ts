/** What a key may do. A key has a set of these, within one tenant. */
export const SCOPES = {
  'jobs:read': 'Read jobs, schedules, definitions, workers and alerts.',
  'jobs:write': 'Start, cancel, release and retry jobs.',
  'jobs:reveal': 'See values that are otherwise redacted; each use is audited.',
  operate:
    'Change schedules and alerts, manage webhooks, pause and limit definitions, drain workers, run what is due.',
  worker: 'Claim and run jobs remotely; not used in this version.',
  admin: 'Everything, keys and the audit log included.',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

/** The default tenant. Its keys also manage what all tenants share. */
export const HOST_TENANT = 'default';

export const TENANT_SHAPE = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function mayDo(scopes: readonly Scope[], wanted: Scope): boolean {
  return scopes.includes('admin') || scopes.includes(wanted);
}

/** Only an admin key of the host tenant may act for another tenant. */
export function mayActFor(tenant: string, scopes: readonly Scope[], other: string): boolean {
  return other === tenant || (tenant === HOST_TENANT && scopes.includes('admin'));
}
