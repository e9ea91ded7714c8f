import { createHash, randomBytes } from 'node:crypto';
import {
  formatApiKey,
  isKeyId,
  KEY_ID_BYTES,
  KEY_SECRET_BYTES,
} from '../../core/access/api-key.ts';
import type { KeyView } from '../../core/views/key-view.ts';
import { type Scope, tenantNotFound } from '../../core/access/scope.ts';
import { tenantNames } from './tenants.ts';
import { type Actor, audit } from './audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';

/** The request for a new key. */
export interface KeyRequest {
  tenant: string;
  name: string;
  scopes: readonly Scope[];
  /** The definitions that a worker with this key may serve; null means all. */
  definitions?: readonly string[] | null | undefined;
  expiresAt: Date | null;
}

/** The key itself is shown only here. */
export interface MadeKey {
  keyId: string;
  key: string;
}

class NoSuchTenant extends Error {
  override name = 'NoSuchTenant';

  constructor(tenant: string, known: readonly string[]) {
    super(tenantNotFound(tenant, known));
  }
}

const INSERT = statement<{ id: string }>(
  'insert_key',
  `insert into longshore.api_key (id, tenant, name, scopes, secret_hash, expires_at, definitions)
   select $1, t.name, $3, $4, $5, $6, $7 from longshore.tenant t where t.name = $2
   returning id`,
);

export async function createKey(db: Db, by: Actor, request: KeyRequest): Promise<MadeKey> {
  return await db.transaction(async (tx) => await insertKey(tx, by, request, 'key.create'));
}

async function insertKey(
  tx: Queryable,
  by: Actor,
  { tenant, name, scopes, definitions = null, expiresAt }: KeyRequest,
  action: string,
): Promise<MadeKey> {
  const id = randomBytes(KEY_ID_BYTES).toString('hex');
  const secret = randomBytes(KEY_SECRET_BYTES).toString('hex');
  const facts = [id, tenant, name, scopes, hashSecret(secret), expiresAt, definitions];
  const [made] = await tx.run(INSERT, facts);
  if (!made) throw new NoSuchTenant(tenant, await tenantNames(tx));
  const after = { name, scopes, ...(definitions && { definitions }), expiresAt };
  await audit(tx, by, { tenant, action, subject: id, after });
  return { keyId: id, key: formatApiKey({ id, secret }) };
}

/** The secret has 256 random bits, so a slow hash would add nothing. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

interface KeyRow {
  id: string;
  tenant: string;
  name: string;
  scopes: Scope[];
  definitions: string[] | null;
  expired: boolean;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  successor: string | null;
}

const COLUMNS = `k.id, k.tenant, k.name, k.scopes, k.definitions, k.created_at, k.expires_at, k.revoked_at,
  k.successor, coalesce(k.expires_at <= clock_timestamp(), false) as expired`;

const LIST = statement<KeyRow>(
  'list_keys',
  `select ${COLUMNS} from longshore.api_key k where k.tenant = $1 order by k.created_at, k.id`,
);

export async function listKeys(db: Queryable, tenant: string): Promise<KeyView[]> {
  return (await db.run(LIST, [tenant])).map(viewOf);
}

const LOCK = statement<KeyRow>(
  'lock_key',
  `select ${COLUMNS} from longshore.api_key k where k.id = $1 and k.tenant = $2 for update`,
);

const REVOKE = statement<{ id: string }>(
  'revoke_key',
  `update longshore.api_key k set revoked_at = clock_timestamp()
   where k.id = $1 and k.tenant = $2 and k.revoked_at is null returning k.id`,
);

/** Revokes the key and ends its sessions. False when there is no such key. */
export async function revokeKey(
  db: Db,
  by: Actor,
  tenant: string,
  keyId: string,
): Promise<boolean> {
  if (!isKeyId(keyId)) return false;
  return await db.transaction(async (tx) => {
    const [row] = await tx.run(LOCK, [keyId, tenant]);
    if (!row) return false;
    const [revoked] = await tx.run(REVOKE, [keyId, tenant]);
    if (revoked) await audit(tx, by, { tenant, action: 'key.revoke', subject: keyId });
    return true;
  });
}

const RETIRE = statement<{ id: string }>(
  'retire_key',
  `update longshore.api_key k
   set successor = $3, expires_at =
     least(k.expires_at, clock_timestamp() + make_interval(secs => $4::float8 / 1000))
   where k.id = $1 and k.tenant = $2 returning k.id`,
);

/**
 * Creates a key with the same rights; the old one works during the overlap, so that its users can
 * change over one by one. Null when there is no such key; its state when that allows no rotation.
 */
export async function rotateKey(
  db: Db,
  by: Actor,
  tenant: string,
  keyId: string,
  overlapMs: number,
): Promise<MadeKey | Exclude<KeyView['status'], 'active'> | 'rotated' | null> {
  if (!isKeyId(keyId)) return null;
  return await db.transaction(async (tx) => {
    const [row] = await tx.run(LOCK, [keyId, tenant]);
    if (!row) return null;
    const { status, successorId, name, scopes, definitions } = viewOf(row);
    if (status !== 'active') return status;
    if (successorId !== null) return 'rotated';
    const request = { tenant, name, scopes, definitions, expiresAt: row.expires_at };
    const made = await insertKey(tx, by, request, 'key.create');
    await tx.run(RETIRE, [keyId, tenant, made.keyId, overlapMs]);
    const after = { successorId: made.keyId, overlapMs };
    await audit(tx, by, { tenant, action: 'key.rotate', subject: keyId, after });
    return made;
  });
}

function viewOf(row: KeyRow): KeyView {
  const ended = row.expired ? 'expired' : 'active';
  return {
    keyId: row.id,
    tenant: row.tenant,
    name: row.name,
    scopes: row.scopes,
    definitions: row.definitions,
    status: row.revoked_at ? 'revoked' : ended,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    successorId: row.successor,
  };
}
