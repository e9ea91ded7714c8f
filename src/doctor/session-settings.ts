import { type Check, ok, problem, warning } from './check.ts';

export interface SessionFacts {
  /** Whether the settings that plans rely on are in force on our connections. */
  tuned: boolean;
  role: string;
  pooler: 'none' | 'transaction';
}

export function judgeSessionSettings({ tuned, role, pooler }: SessionFacts): Check {
  if (tuned) return ok('session-settings', 'in force');
  if (pooler === 'none') {
    return problem(
      'session-settings',
      'they do not reach the database',
      'set LONGSHORE_POOLER=transaction: a connection pooler drops them (docs/poolers.md)',
    );
  }
  return warning(
    'session-settings',
    `the role "${role}" lacks the settings that plans rely on`,
    'give them to the role: see "The role" in docs/poolers.md',
  );
}
