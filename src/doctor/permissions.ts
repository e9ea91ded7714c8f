import { type Check, ok, problem } from './check.ts';

export interface PermissionFacts {
  role: string;
  database: string;
  readOnly: boolean;
  schemaExists: boolean;
  /** In the schema, or the schema itself where there is none yet. */
  mayCreate: boolean;
  /** A role that owns tables of ours and that we are no member of. */
  foreignOwner: string | null;
}

export function judgePermissions(facts: PermissionFacts): Check {
  const { role, database, readOnly, schemaExists, mayCreate, foreignOwner } = facts;
  const failed = (detail: string, fix: string) => problem('permissions', detail, fix);
  if (readOnly) {
    return failed(
      'the database takes no writes: a standby, or default_transaction_read_only',
      'point DATABASE_URL at the primary, or switch that setting off for the role',
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
  // Only the owner of a table may add the partitions that next week needs.
  if (foreignOwner !== null) {
    return failed(
      `tables of Longshore belong to "${foreignOwner}", not to "${role}"`,
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
