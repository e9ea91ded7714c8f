/**
 * The environment that a process running user code gets: what programs need to work at all, and what
 * the operator named. Secrets of the server (its database URL, its keys) are never among it, and
 * neither is what would change how Node itself starts (NODE_OPTIONS).
 */
const HARMLESS = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** `named` lists more variables, split by commas; one that ends in `*` means all that begin so. */
export function childEnvironment(
  named: string | null = null,
  from: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const patterns = named === null ? [] : named.split(',');
  const wanted = (name: string) =>
    HARMLESS.includes(name) ||
    patterns.some((pattern) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
  return Object.fromEntries(
    Object.entries(from).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && wanted(entry[0]),
    ),
  );
}
