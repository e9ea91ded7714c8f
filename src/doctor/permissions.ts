import { type Check, ok, problem } from './check.ts';

export interface PermissionFacts {
  role: string;
  database: string;
  readOnly: boolean;
  schemaExists: boolean;
  /** CREATE in the schema, or of the schema if it does not exist. */
  mayCreate: boolean;
  /** A role that owns Longshore tables and of which we are no member. */
  foreignOwner: string | null;
}

export function judgePermissions(facts: PermissionFacts): Check {
  const { role, database, readOnly, schemaExists, mayCreate, foreignOwner } = facts;
  const failed = (detail: string, fix: string) => problem('permissions', detail, fix);
  if (readOnly) {
    return failed(
      'the database is read-only: a standby, or default_transaction_read_only',
      'point DATABASE_URL to the primary, or disable that setting for the role',
    );
  }
  if (!mayCreate) {
    const where = schemaExists ? 'SCHEMA longshore' : `DATABASE ${quoted(database)}`;
    const rights = schemaExists ? 'USAGE, CREATE' : 'CREATE';
    return failed(
      `the role "${role}" may not create ${schemaExists ? 'tables in' : 'the schema'} longshore`,
      `run as an owner: GRANT ${rights} ON ${where} TO ${quoted(role)}`,
    );
  }
  // Only the owner of a table may add partitions.
  if (foreignOwner !== null) {
    return failed(
      `Longshore tables are owned by "${foreignOwner}", not by "${role}"`,
      `connect as that role, or run: GRANT ${quoted(foreignOwner)} TO ${quoted(role)}`,
    );
  }
  return ok(
    'permissions',
    `the role "${role}" may create in ${schemaExists ? 'its schema' : database}`,
  );
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
