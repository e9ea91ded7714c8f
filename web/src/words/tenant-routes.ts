/** The part of the OpenAPI document that says which calls take a tenant. */
export interface OpenApi {
  paths: Record<string, Record<string, { parameters?: readonly { name?: string; in?: string }[] }>>;
}

export type TenantRoutes = readonly { method: string; path: RegExp; takes: boolean }[];

export function tenantRoutesOf({ paths }: OpenApi): TenantRoutes {
  const routes = Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      template,
      path: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
      takes: parameters.some(({ name, in: where }) => name === 'tenant' && where === 'query'),
    })),
  );
  // A path without a variable wins over one with.
  return routes.sort((a, b) => variables(a.template) - variables(b.template));
}

export function acceptsTenant(routes: TenantRoutes, method: string, path: string): boolean {
  return routes.find((one) => one.method === method && one.path.test(path))?.takes ?? false;
}

function variables(template: string): number {
  return template.split('{').length;
}
