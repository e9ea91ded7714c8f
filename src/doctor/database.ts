import { databaseFix } from '../core/failure/database-fix.ts';
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
      return problem('database', `${where} is unreachable: ${reason}`, databaseFix(reach));
    }
    case 'absent':
      return ok(
        'database',
        `embedded, ${reach.folder}: created by the first "npx longshore start"`,
      );
    case 'stopped':
      return ok(
        'database',
        `embedded, ${reach.folder}: not running, starts with "npx longshore start"`,
      );
    case 'silent':
      return warning(
        'database',
        `embedded, ${reach.folder}: process ${reach.pid} runs it, but does not respond`,
        'check again in a moment, it may be starting; otherwise restart "npx longshore start"',
      );
    case 'refused':
      return refused('database', reach.message);
  }
}
