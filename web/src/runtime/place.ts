/**
 * Where things are. The server writes a relative `<base>` into the page, so that all of this works
 * below any path of any proxy; it is made absolute at once, before the address of the page changes.
 */
const base = document.querySelector('base');
if (base) base.href = document.baseURI;

/** Ends in `/ui/`. */
export const dashboardRoot = new URL(document.baseURI);
/** The server itself: what commands are given as its address. */
export const serverRoot = new URL('..', dashboardRoot);

export function apiUrl(path: string): string {
  return new URL(path.replace(/^\//, ''), serverRoot).href;
}

/** The address as a person writes it, without the slash at its end. */
export const serverAddress = serverRoot.href.replace(/\/$/, '');
