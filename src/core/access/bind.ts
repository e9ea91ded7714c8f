/** Whether the host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return plain === 'localhost' || plain === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}

/** Why the server must not listen on this host; null when it may. */
export function bindProblem(host: string, hasKey: boolean): string | null {
  if (hasKey || isLoopback(host)) return null;
  return (
    `host ${JSON.stringify(host)} is not loopback and there is no API key yet: anyone who ` +
    'reaches the port could run jobs. Create a key with "npx longshore keys create --scope admin"'
  );
}
