import { timingSafeEqual } from 'node:crypto';
import type { ApiKeyParts } from '../../core/access/api-key.ts';
import type { Scope } from '../../core/access/scope.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { hashOf } from './keys.ts';

/** What a valid key stands for. */
export interface Credential {
  keyId: string;
  tenant: string;
  scopes: readonly Scope[];
}

interface CredentialRow {
  id: string;
  tenant: string;
  scopes: Scope[];
  secret_hash: Buffer;
}

export const VALID = `k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())`;

const FIND = statement<CredentialRow>(
  'find_key',
  `select k.id, k.tenant, k.scopes, k.secret_hash from longshore.api_key k
   where k.id = $1 and ${VALID}`,
);

/** Compared when there is no such key, so that an unknown id takes as long as a wrong secret. */
const NOBODY = hashOf('nobody');

/** Null for every key that does not count, whatever the reason. */
export async function findCredential(
  db: Queryable,
  { id, secret }: ApiKeyParts,
): Promise<Credential | null> {
  const [row] = await db.run(FIND, [id]);
  const right = timingSafeEqual(row?.secret_hash ?? NOBODY, hashOf(secret));
  return row && right ? { keyId: row.id, tenant: row.tenant, scopes: row.scopes } : null;
}

const LIVE = statement<{ mark: string }>(
  'live_key_marks',
  `select encode(substring(k.secret_hash from 1 for 8), 'hex') as mark
   from longshore.api_key k where ${VALID}`,
);

/** An identifier of a key that reveals neither its secret nor its id. */
export function keyMark({ secret }: ApiKeyParts): string {
  return hashOf(secret).subarray(0, 8).toString('hex');
}

/** Of all tenants: for the door, which must know whether a key can be right before it asks. */
export async function liveKeyMarks(db: Queryable): Promise<ReadonlySet<string>> {
  return new Set((await db.run(LIVE)).map(({ mark }) => mark));
}

const ANY = statement<{ any: boolean }>(
  'any_key',
  'select exists (select 1 from longshore.api_key) as any',
);

/** Whether there ever was a key, valid or not. */
export async function anyKey(db: Queryable): Promise<boolean> {
  const [row] = await db.run(ANY);
  return row?.any ?? false;
}
