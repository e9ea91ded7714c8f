/**
 * The environment of processes that run user code: what programs need to work, and what the
 * operator listed. It never contains secrets of the server (database URL, keys) or variables that
 * change how Node starts (NODE_OPTIONS).
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

/** `named` lists more variables, separated by commas; a trailing `*` matches a prefix. */
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
