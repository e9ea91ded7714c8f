import { type Check, ok, problem, refused, warning } from './check.ts';

export interface MigrationFacts {
  /** Migrations that the database lacks. */
  pending: readonly string[];
  /** The last applied migration; null if none. */
  last: string | null;
  /** Applied migrations that this release does not know. */
  newer: readonly string[];
  /** Why a server would refuse this database. */
  refusal: string | null;
}

/** At most a warning, since every role migrates at start. */
export function judgeMigrations({ pending, last, newer, refusal }: MigrationFacts): Check {
  if (refusal !== null) return refused('migrations', refusal);
  if (pending.length > 0) {
    return warning(
      'migrations',
      `${pending.length} pending: ${pending.join(', ')}`,
      'run "npx longshore migrate"; all server roles also migrate at start',
    );
  }
  const ahead = newer.length === 0 ? '' : `; a newer Longshore has applied ${newer.join(', ')}`;
  return ok('migrations', `up to date (${last})${ahead}`);
}

export function unreadableMigrations(reason: string): Check {
  return problem('migrations', reason, 'grant the role USAGE on the schema longshore');
}
