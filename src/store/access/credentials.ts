import { timingSafeEqual } from 'node:crypto';
import type { ApiKeyParts } from '../../core/access/api-key.ts';
import type { Scope } from '../../core/access/scope.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { hashSecret } from './keys.ts';

/** The rights of a valid key. */
export interface Credential {
  keyId: string;
  keyName: string | null;
  tenant: string;
  scopes: readonly Scope[];
  /** The definitions that a worker with this key may serve; null means all. */
  definitions: readonly string[] | null;
}

interface CredentialRow {
  id: string;
  name: string;
  tenant: string;
  scopes: Scope[];
  definitions: string[] | null;
  secret_hash: Buffer;
}

export const VALID = `k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())`;

const FIND = statement<CredentialRow>(
  'find_key',
  `select k.id, k.name, k.tenant, k.scopes, k.definitions, k.secret_hash from longshore.api_key k
   where k.id = $1 and ${VALID}`,
);

/** Compared when the key is unknown, so that an unknown id takes as long as a wrong secret. */
const UNKNOWN_KEY_HASH = hashSecret('no key');

/** Null for every invalid key, whatever the reason. */
export async function findCredential(
  db: Queryable,
  { id, secret }: ApiKeyParts,
): Promise<Credential | null> {
  const [row] = await db.run(FIND, [id]);
  const right = timingSafeEqual(row?.secret_hash ?? UNKNOWN_KEY_HASH, hashSecret(secret));
  if (!row || !right) return null;
  const { id: keyId, name: keyName, tenant, scopes, definitions } = row;
  return { keyId, keyName, tenant, scopes, definitions };
}

const LIVE = statement<{ mark: string }>(
  'live_key_marks',
  `select encode(substring(k.secret_hash from 1 for 8), 'hex') as mark
   from longshore.api_key k where ${VALID}`,
);

/** An identifier of a key that reveals neither its secret nor its id. */
export function keyHashPrefix({ secret }: ApiKeyParts): string {
  return hashSecret(secret).subarray(0, 8).toString('hex');
}

/** Of all tenants. The rate limiter uses it to refuse guessed keys without a query each. */
export async function liveKeyPrefixes(db: Queryable): Promise<ReadonlySet<string>> {
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
