/**
 * The environment that a process running user code gets: what programs need to work at all, and what
 * the operator named. Secrets of the server (its database URL, its keys) are never among it.
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

export function childEnvironment(from: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const entries = HARMLESS.map((name) => [name, from[name]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
