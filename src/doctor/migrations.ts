import { type Check, ok, problem, refused, warning } from './check.ts';

export interface MigrationFacts {
  /** Names of ours that the database lacks. */
  pending: readonly string[];
  /** The last of ours that it has; null when it has none. */
  last: string | null;
  /** Names that it has and we do not know. */
  newer: readonly string[];
  /** Why a server would refuse this database. */
  refusal: string | null;
}

/** Not more than a warning, since every role brings the schema up to date when it starts. */
export function judgeMigrations({ pending, last, newer, refusal }: MigrationFacts): Check {
  if (refusal !== null) return refused('migrations', refusal);
  if (pending.length > 0) {
    return warning(
      'migrations',
      `${pending.length} pending: ${pending.join(', ')}`,
      'run "longshore migrate"; "longshore start" and the other roles do it too when they start',
    );
  }
  const ahead = newer.length === 0 ? '' : `; a newer Longshore has added ${newer.join(', ')}`;
  return ok('migrations', `up to date (${last})${ahead}`);
}

export function unreadableMigrations(reason: string): Check {
  return problem('migrations', reason, 'give the role the right to use the schema longshore');
}
