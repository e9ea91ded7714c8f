import { unknownName } from '../values/nearest.ts';
import { DEFAULT_TENANT, type Scope, SCOPE_NAMES, TENANT_SHAPE } from '../access/scope.ts';

/** What the members of a group of the identity provider may do, and in which tenant. */
export interface GroupRule {
  group: string;
  scopes: readonly Scope[];
  tenant: string;
}

export type GroupRules = { ok: true; rules: GroupRule[] } | { ok: false; problem: string };

/**
 * `ops=admin,dev=jobs:read+jobs:write,acme-team=jobs:read@acme`: a group, its scopes, and a tenant
 * if it is not the default one. A comma in the name of a group is written as `%2C`.
 */
export function parseGroupRules(text: string): GroupRules {
  const rules: GroupRule[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const [, name = '', scopeList = '', tenant = DEFAULT_TENANT] =
      /^(.+)=([^=@]+)(?:@([^=@]+))?$/.exec(entry.trim()) ?? [];
    const group = decoded(name.trim());
    if (!group) return refused(`entry ${index + 1} is not a group, = and scopes`);
    const scopes: Scope[] = [];
    for (const word of scopeList.split('+').map((one) => one.trim())) {
      const scope = SCOPE_NAMES.find((known) => known === word);
      if (!scope) return refused(unknownName('scope', word, SCOPE_NAMES));
      scopes.push(scope);
    }
    if (!TENANT_SHAPE.test(tenant.trim())) return refused(`"${tenant}" cannot be a tenant`);
    rules.push({ group, scopes, tenant: tenant.trim() });
  }
  return { ok: true, rules };
}

/** The scopes of a user in one tenant. */
export interface TenantRights {
  tenant: string;
  scopes: Scope[];
}

/** One entry for each tenant, in the order of the rules; scopes of several groups add up. */
export function rightsOf(groups: readonly string[], rules: readonly GroupRule[]): TenantRights[] {
  const own = rules.filter(({ group }) => groups.includes(group));
  const byTenant = Map.groupBy(own, ({ tenant }) => tenant);
  return [...byTenant].map(([tenant, matching]) => {
    const granted = matching.flatMap(({ scopes }) => scopes);
    return { tenant, scopes: SCOPE_NAMES.filter((scope) => granted.includes(scope)) };
  });
}

/**
 * The tenant of a new session: the wanted one, the only one, or the default tenant for its admins,
 * who can act for all others. Null when the user has to choose, or may not have the wanted one.
 */
export function chooseRights(
  rights: readonly TenantRights[],
  wanted: string | null,
): TenantRights | null {
  if (wanted !== null) return rights.find(({ tenant }) => tenant === wanted) ?? null;
  const host = rights.find(
    ({ tenant, scopes }) => tenant === DEFAULT_TENANT && scopes.includes('admin'),
  );
  return host ?? (rights.length === 1 ? (rights[0] ?? null) : null);
}

function decoded(name: string): string | null {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

function refused(problem: string): GroupRules {
  return { ok: false, problem };
}
