/**
 * Addresses of the server. The page has a relative `<base>`, so that it works below any path of a
 * proxy; it is made absolute before the router changes the address.
 */
const base = document.querySelector('base');
if (base) base.href = document.baseURI;

/** Ends in `/ui/`. */
export const dashboardRoot = new URL(document.baseURI);
/** Base URL of the server. */
export const serverRoot = new URL('..', dashboardRoot);

export function apiUrl(path: string): string {
  return new URL(path.replace(/^\//, ''), serverRoot).href;
}

/** Path and query of this page, below `/ui/`. */
export function dashboardPath(): string {
  const { pathname, search } = window.location;
  return `${pathname}${search}`.slice(dashboardRoot.pathname.length);
}

/** The list that this page belongs to: a single job or schedule is of one tenant. */
export function listPath(): string {
  const path = window.location.pathname.slice(dashboardRoot.pathname.length);
  return path.split('/')[0] ?? '';
}

/** Without the trailing slash. */
export const serverAddress = serverRoot.href.replace(/\/$/, '');
