/** By SQLSTATE or Node error code. */
const FIXES: readonly [code: RegExp, fix: string][] = [
  [
    /^(ECONNREFUSED|ENOENT)$/,
    'start PostgreSQL there, or correct the host and port in DATABASE_URL',
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'correct the host in DATABASE_URL, or the DNS of this machine'],
  [/^28/, 'correct the user and password in DATABASE_URL, or pg_hba.conf on the server'],
  [/^3D000$/, 'create the database, or correct its name in DATABASE_URL'],
  [/^53300$/, 'raise max_connections, or use a connection pooler (docs/operate/poolers.md)'],
  [/^57P03$/, 'check again in a moment: it is starting or stopping'],
];

/** What to do when the database cannot be reached. */
export function databaseFix({ code, reason }: { code: string | null; reason: string }): string {
  // Poolers reject our session settings with this error.
  if (reason.includes('unsupported startup parameter')) {
    return 'set LONGSHORE_POOLER=transaction: the server is a connection pooler (docs/operate/poolers.md)';
  }
  const known = FIXES.find(([pattern]) => pattern.test(code ?? ''));
  return known?.[1] ?? 'check DATABASE_URL, firewalls, TLS and the log of the server';
}
