export type CheckName =
  | 'node'
  | 'database'
  | 'postgres-version'
  | 'session-settings'
  | 'durability'
  | 'permissions'
  | 'migrations'
  | 'clock'
  | 'alerts'
  | 'redis'
  | 'brokers'
  | 'sign-in'
  | 'data-folder'
  | 'temp-folder'
  | 'memory-limits'
  | 'isolation'
  | 'escapes'
  | 'runner-user'
  | 'definitions'
  | 'encryption'
  | 'artifacts'
  | 'artifact-keys'
  | 'port';

/**
 * Result of one check. A warning does not stop Longshore; a problem prevents its start or breaks a
 * guarantee.
 */
export interface Check {
  name: CheckName;
  status: 'ok' | 'warning' | 'problem';
  detail: string;
  /** How to fix it, in one line; null if nothing is to do. */
  fix: string | null;
}

export function ok(name: CheckName, detail: string): Check {
  return { name, status: 'ok', detail, fix: null };
}

export function warning(name: CheckName, detail: string, fix: string): Check {
  return { name, status: 'warning', detail, fix };
}

export function problem(name: CheckName, detail: string, fix: string): Check {
  return { name, status: 'problem', detail, fix };
}

/**
 * A problem from an error message of the form "problem: fix"; the last colon counts, because a path
 * may contain one.
 */
export function refused(name: CheckName, message: string): Check {
  const colon = message.lastIndexOf(': ');
  if (colon < 0) return problem(name, message, 'fix this and run the check again');
  return problem(name, message.slice(0, colon), message.slice(colon + 2).replace(/\.$/, ''));
}
