/**
 * Checks the form of a webhook URL. Its address is checked when it is dialed
 * (`webhooks/dialer.ts`).
 */
export type UrlVerdict = { ok: true; url: URL } | { ok: false; detail: string };

/**
 * Ports of other protocols, whose servers could take an HTTP request for commands. Below 1024 only
 * the ports of HTTP are allowed; above, these are excluded.
 */
const FOREIGN_PORTS = new Set([
  1433, 1521, 2049, 3306, 3389, 5432, 5672, 5900, 6379, 6667, 9042, 9092, 11_211, 27_017,
]);

export function judgeUrl(text: string): UrlVerdict {
  if (!URL.canParse(text)) return refused('must be a URL such as https://example.com/hooks');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refused('must begin with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    return refused('must not hold a user name or a password: verify the signature instead');
  }
  if (!isSanePort(url)) return refused(`names port ${url.port}, where no web server listens`);
  // A fragment is never sent, so a URL with one is a mistake.
  if (url.hash !== '') return refused('must not have a fragment (#…)');
  return { ok: true, url };
}

function isSanePort({ port }: URL): boolean {
  if (port === '' || port === '80' || port === '443') return true;
  return Number(port) >= 1_024 && !FOREIGN_PORTS.has(Number(port));
}

function refused(detail: string): UrlVerdict {
  return { ok: false, detail };
}
