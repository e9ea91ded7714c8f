import {
  ALL_DEFINITIONS,
  effectiveSecrets,
  type SecretCounts,
  secretRoomProblem,
  type SecretView,
} from '../../core/access/secret.ts';
import { CannotOpen } from '../../core/access/sealed.ts';
import type { Use } from '../connection/vault.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { notifyWorkers } from '../limits/sync-limits.ts';
import { type Actor, audit } from './audit.ts';

/**
 * Secrets of jobs. A value is sealed when it is written, and opened only for a job that gets it. It
 * is in no answer and in no audit entry.
 */
export interface SecretName {
  name: string;
  /** Null: all definitions of the tenant. */
  definitionKey: string | null;
}

interface SecretRow {
  name: string;
  key: string;
  created_at: Date;
  updated_at: Date;
  updated_by: string;
}

const COLUMNS = 'name, key, created_at, updated_at, updated_by';

const PUT = statement<SecretRow & { isNew: boolean }>(
  'put_secret',
  `insert into longshore.secret as s
     (id, tenant, key, name, value, bytes, updated_by, created_at, updated_at)
   select $1, $2, $3, $4, $5, $6, $7, at, at from clock_timestamp() as at
   on conflict (tenant, key, name) where name is not null do update
     set id = excluded.id, value = excluded.value, bytes = excluded.bytes,
       updated_at = excluded.updated_at, updated_by = excluded.updated_by
   returning ${COLUMNS}, s.created_at = s.updated_at as "isNew"`,
);

/** Two calls must not both take the last place. */
const LOCK = statement<{ locked: string }>(
  'lock_secrets',
  `select pg_advisory_xact_lock(hashtext('longshore.secret'), hashtext($1))::text as locked
   from longshore.tenant where name = $1`,
);

const COUNT = statement<{ ofScope: number; bytesOfScope: number; ofTenant: number }>(
  'count_secrets',
  `select count(*) filter (where key = $2)::int as "ofScope",
     coalesce(sum(bytes) filter (where key = $2), 0)::int as "bytesOfScope",
     count(*)::int as "ofTenant"
   from longshore.secret where tenant = $1`,
);

/** No encryption key is configured, so nothing can be sealed. */
export class NoEncryptionKey extends Error {
  override name = 'NoEncryptionKey';
}

/** The tenant or the definition has too many secrets. */
export class TooManySecrets extends Error {
  override name = 'TooManySecrets';
}

export async function putSecret(
  db: Db,
  by: Actor,
  tenant: string,
  { name, definitionKey }: SecretName,
  value: string,
): Promise<SecretView> {
  if (db.vault.keyId === null) throw new NoEncryptionKey('no encryption key');
  const key = definitionKey ?? ALL_DEFINITIONS;
  const sealed = db.vault.sealText(tenant, value, useOf(key, name));
  const put = await db.transaction(async (tx) => {
    await tx.run(LOCK, [tenant]);
    const values = [tenant, key, name, sealed, Buffer.byteLength(value), by.name];
    const [row] = await tx.run(PUT, [tx.ids.next(0), ...values]);
    if (!row) throw new Error('the secret was not stored');
    const [counts] = await tx.run(COUNT, [tenant, key]);
    const problem = counts && secretRoomProblem(counts satisfies SecretCounts);
    if (problem) throw new TooManySecrets(problem);
    const action = row.isNew ? 'secret.create' : 'secret.change';
    await audit(tx, by, { tenant, action, subject: name, after: { definitionKey } });
    return viewOf(row);
  });
  await notifyWorkers(db);
  return put;
}

const LIST = statement<SecretRow>(
  'list_secrets',
  `select ${COLUMNS} from longshore.secret where tenant = $1 order by name, key`,
);

/** Of all definitions, or those that jobs of one definition get. */
export async function listSecrets(
  db: Queryable,
  tenant: string,
  definitionKey: string | null = null,
): Promise<SecretView[]> {
  const all = (await db.run(LIST, [tenant])).map(viewOf);
  if (definitionKey === null) return all;
  return all.filter((one) => one.definitionKey === null || one.definitionKey === definitionKey);
}

const DELETE = statement<{ id: string }>(
  'delete_secret',
  'delete from longshore.secret where tenant = $1 and key = $2 and name = $3 returning id',
);

/** False when there is no such secret. */
export async function deleteSecret(
  db: Db,
  by: Actor,
  tenant: string,
  { name, definitionKey }: SecretName,
): Promise<boolean> {
  const deleted = await db.transaction(async (tx) => {
    const [gone] = await tx.run(DELETE, [tenant, definitionKey ?? ALL_DEFINITIONS, name]);
    const entry = { tenant, action: 'secret.delete', subject: name, before: { definitionKey } };
    if (gone) await audit(tx, by, entry);
    return gone !== undefined;
  });
  if (deleted) await notifyWorkers(db);
  return deleted;
}

const READ = statement<{ name: string; key: string; value: string }>(
  'read_secrets',
  `select name, key, value from longshore.secret
   where tenant = $1 and key = any (array['${ALL_DEFINITIONS}', $2]) order by name, key`,
);

/** The values that jobs of a definition get, by name. Throws `CannotOpen`. */
export async function readSecrets(
  db: Queryable,
  tenant: string,
  definitionKey: string,
): Promise<Record<string, string>> {
  const rows = await db.run(READ, [tenant, definitionKey]);
  return effectiveSecrets(
    rows.map(({ name, key, value }) => ({
      name,
      definitionKey: key === ALL_DEFINITIONS ? null : key,
      value: opened(db, tenant, { name, key, value }),
    })),
  );
}

function opened(
  { vault }: Queryable,
  tenant: string,
  { name, key, value }: { name: string; key: string; value: string },
): string {
  try {
    return vault.openText(tenant, value, useOf(key, name));
  } catch (error) {
    if (!(error instanceof CannotOpen)) throw error;
    throw new CannotOpen(`the secret ${name} cannot be decrypted: ${error.message}`);
  }
}

/** Neither part has a space. */
function useOf(key: string, name: string): Use {
  return `env ${key} ${name}`;
}

function viewOf({ name, key, created_at, updated_at, updated_by }: SecretRow): SecretView {
  return {
    name,
    definitionKey: key === ALL_DEFINITIONS ? null : key,
    createdAt: created_at.toISOString(),
    updatedAt: updated_at.toISOString(),
    updatedBy: updated_by,
  };
}
