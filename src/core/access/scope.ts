/** What a key may be allowed to do. A key has some of these, within one tenant. */
export const SCOPES = {
  'jobs:read': 'Look at jobs, schedules, definitions, workers and alerts.',
  'jobs:write': 'Start, cancel, release and retry jobs.',
  'jobs:reveal': 'See values that are otherwise redacted; each look is audited.',
  operate:
    'Change schedules and alerts, look after webhooks, pause and limit definitions, drain workers, run what is due.',
  worker: 'Claim and run jobs from elsewhere; opens nothing in this version.',
  admin: 'Everything, keys and the audit log included.',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

/** The tenant of who says nothing else. Its keys also look after what all tenants share. */
export const HOST_TENANT = 'default';

export const TENANT_SHAPE = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function mayDo(scopes: readonly Scope[], wanted: Scope): boolean {
  return scopes.includes('admin') || scopes.includes(wanted);
}

/** Only who administers the host tenant may act for another one. */
export function mayActFor(tenant: string, scopes: readonly Scope[], other: string): boolean {
  return other === tenant || (tenant === HOST_TENANT && scopes.includes('admin'));
}
