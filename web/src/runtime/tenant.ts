import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import { dashboardRoot } from './urls.ts';
import { parseUrlSearch, textOf, type UrlSearch, writeUrlSearch } from '../words/url-search.ts';

/**
 * The tenant that this page acts for, from `?tenant=` of its address; null means that of the key.
 * Every link of the page keeps it. Another tenant is another page load, so nothing that is cached
 * can belong to two tenants.
 */
export const tenant: string | null = textOf(parseUrlSearch(location.search), 'tenant') ?? null;

export function parseSearch(text: string): UrlSearch {
  const { tenant: _tenant, ...search } = parseUrlSearch(text);
  return search;
}

export function writeSearch(search: Record<string, unknown>): string {
  return writeUrlSearch(tenant === null ? search : { ...search, tenant });
}

/** Loads the same list for another tenant. A single thing belongs to one tenant. */
export function switchTenant(to: string | null): void {
  const url = new URL(location.href);
  url.search = to === null ? '' : `?${new URLSearchParams({ tenant: to })}`;
  location.assign(url);
}

/** The address of a page for another tenant, for an admin of the default tenant. */
export function addressFor(path: string, name: string): string {
  const url = new URL(path.replace(/^\//, ''), dashboardRoot);
  if (name !== DEFAULT_TENANT) url.searchParams.set('tenant', name);
  return url.href;
}
