import { type Check, ok, problem, refused, warning } from './check.ts';

/** Result of the connection to the database. */
export type Reach =
  | { state: 'reached'; where: string }
  | { state: 'unreachable'; where: string; code: string | null; reason: string }
  /** The embedded database, which runs only with `longshore start`. */
  | { state: 'absent' | 'stopped'; folder: string }
  | { state: 'silent'; folder: string; pid: number }
  | { state: 'refused'; message: string };

export function judgeDatabase(reach: Reach): Check {
  switch (reach.state) {
    case 'reached':
      return ok('database', reach.where);
    case 'unreachable': {
      const { where, reason } = reach;
      return problem('database', `${where} is unreachable: ${reason}`, fixOf(reach));
    }
    case 'absent':
      return ok('database', `embedded, ${reach.folder}: created by the first "longshore start"`);
    case 'stopped':
      return ok(
        'database',
        `embedded, ${reach.folder}: not running, starts with "longshore start"`,
      );
    case 'silent':
      return warning(
        'database',
        `embedded, ${reach.folder}: process ${reach.pid} runs it, but does not respond`,
        'check again in a moment, it may be starting; otherwise restart "longshore start"',
      );
    case 'refused':
      return refused('database', reach.message);
  }
}

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

function fixOf({ code, reason }: { code: string | null; reason: string }): string {
  // Poolers reject our session settings with this error.
  if (reason.includes('unsupported startup parameter')) {
    return 'set LONGSHORE_POOLER=transaction: the server is a connection pooler (docs/operate/poolers.md)';
  }
  const known = FIXES.find(([pattern]) => pattern.test(code ?? ''));
  return known?.[1] ?? 'check DATABASE_URL, firewalls, TLS and the log of the server';
}
