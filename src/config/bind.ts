/**
 * There are no API keys in this version, so whoever can reach the port can run jobs. The server
 * therefore listens on loopback only.
 */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return plain === 'localhost' || plain === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}

/** Why this host cannot be listened on, or null when it can. */
export function bindProblem(host: string): string | null {
  if (isLoopback(host)) return null;
  return (
    `host ${JSON.stringify(host)} is not loopback: this version has no API keys, so anybody who ` +
    'reaches the port could run jobs. Use 127.0.0.1, and a proxy that checks who is calling'
  );
}

/** Where client commands look when nobody tells them: the server that the same settings start. */
export function defaultUrl({ host, port }: { host: string; port: number }): string {
  const name = isLoopback(host) ? host : '127.0.0.1';
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  // Port 0 is "any free port", which nobody can guess; the usual one is the best bet.
  return `http://${bracketed}:${port === 0 ? 4_400 : port}`;
}
