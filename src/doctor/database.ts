import { type Check, ok, problem, refused, warning } from './check.ts';

/** How far we got on the way to the database. */
export type Reach =
  | { state: 'reached'; where: string }
  | { state: 'unreachable'; where: string; code: string | null; reason: string }
  /** The embedded one, which runs only while somebody runs `longshore start`. */
  | { state: 'absent' | 'stopped'; folder: string }
  | { state: 'silent'; folder: string; pid: number }
  | { state: 'refused'; message: string };

export function judgeDatabase(reach: Reach): Check {
  switch (reach.state) {
    case 'reached':
      return ok('database', reach.where);
    case 'unreachable': {
      const { where, reason } = reach;
      return problem('database', `${where} cannot be reached: ${reason}`, fixOf(reach));
    }
    case 'absent':
      return ok('database', `embedded, ${reach.folder}: made by the first "longshore start"`);
    case 'stopped':
      return ok(
        'database',
        `embedded, ${reach.folder}: not running, starts with "longshore start"`,
      );
    case 'silent':
      return warning(
        'database',
        `embedded, ${reach.folder}: process ${reach.pid} runs it, but does not answer`,
        'look again in a moment, it may be starting; if it stays so, restart "longshore start"',
      );
    case 'refused':
      return refused('database', reach.message);
  }
}

/** By SQLSTATE or by the code of Node. */
const FIXES: readonly [code: RegExp, fix: string][] = [
  [/^(ECONNREFUSED|ENOENT)$/, 'start PostgreSQL there, or mend the host and port in DATABASE_URL'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'mend the host in DATABASE_URL, or the DNS of this machine'],
  [/^28/, 'mend the user and the password in DATABASE_URL, or pg_hba.conf on the server'],
  [/^3D000$/, 'create that database, or mend its name in DATABASE_URL'],
  [/^53300$/, 'raise max_connections, or put a pooler before it (docs/poolers.md)'],
  [/^57P03$/, 'look again in a moment: it is starting or stopping'],
];

function fixOf({ code, reason }: { code: string | null; reason: string }): string {
  // Poolers answer so to the session settings that we send along.
  if (reason.includes('unsupported startup parameter')) {
    return 'set LONGSHORE_POOLER=transaction: a connection pooler answers there (docs/poolers.md)';
  }
  const known = FIXES.find(([pattern]) => pattern.test(code ?? ''));
  return known?.[1] ?? 'mend DATABASE_URL; firewalls, TLS and the log of the server may tell more';
}
