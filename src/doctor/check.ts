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
  | 'data-folder'
  | 'temp-folder'
  | 'memory-limits'
  | 'isolation'
  | 'escapes'
  | 'runner-user'
  | 'definitions'
  | 'encryption'
  | 'port';

/**
 * What one look found. A warning is something to know of, which Longshore can live with; a problem
 * keeps it from starting, or from what it promises.
 */
export interface Check {
  name: CheckName;
  status: 'ok' | 'warning' | 'problem';
  detail: string;
  /** One line that says what to do; null when there is nothing to do. */
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
 * A problem that another part of Longshore has put into words already. Our refusals read "what is
 * wrong: what to do"; the last colon counts, because a path may hold one as well.
 */
export function refused(name: CheckName, message: string): Check {
  const colon = message.lastIndexOf(': ');
  if (colon < 0) return problem(name, message, 'mend that, and look again');
  return problem(name, message.slice(0, colon), message.slice(colon + 2).replace(/\.$/, ''));
}
