import { type Check, ok, problem, warning } from './check.ts';

export interface SessionFacts {
  /** Whether the session settings that query plans rely on are active. */
  tuned: boolean;
  role: string;
  pooler: 'none' | 'transaction';
}

export function judgeSessionSettings({ tuned, role, pooler }: SessionFacts): Check {
  if (tuned) return ok('session-settings', 'active');
  if (pooler === 'none') {
    return problem(
      'session-settings',
      'session settings do not reach the database',
      'set LONGSHORE_POOLER=transaction: a connection pooler drops them (docs/operate/poolers.md)',
    );
  }
  return warning(
    'session-settings',
    `the role "${role}" lacks the settings that query plans rely on`,
    'set them for the role: see "The role" in docs/operate/poolers.md',
  );
}
