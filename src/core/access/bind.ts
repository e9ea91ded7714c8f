/** Whether only programs of this machine can reach what listens on this host. */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return plain === 'localhost' || plain === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}

/** Why this host cannot be listened on, or null when it can. */
export function bindProblem(host: string, hasKey: boolean): string | null {
  if (hasKey || isLoopback(host)) return null;
  return (
    `host ${JSON.stringify(host)} is not loopback and there is no API key yet, so anybody who ` +
    'reaches the port could run jobs: make one with "longshore keys create --scope admin"'
  );
}
