import { tenant } from '../runtime/tenant.ts';
import { acceptsTenant, type OpenApi, tenantRoutesOf } from '../words/tenant-routes.ts';

type Routes = ReturnType<typeof tenantRoutesOf>;
let routes: Promise<Routes> | null = null;

/** The tenant for a call, if the page acts for one and the call takes one. */
export async function tenantFor(
  method: string,
  path: string,
  readOpenApi: () => Promise<OpenApi>,
): Promise<{ tenant?: string }> {
  if (tenant === null || !path.startsWith('/v1/')) return {};
  routes ??= readOpenApi().then(tenantRoutesOf);
  try {
    return acceptsTenant(await routes, method, path) ? { tenant } : {};
  } catch (error) {
    routes = null;
    throw error;
  }
}

/** For streams, which all take a tenant. */
export function tenantOfStream(): { tenant?: string } {
  return tenant === null ? {} : { tenant };
}
