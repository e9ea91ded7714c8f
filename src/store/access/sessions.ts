import { randomBytes } from 'node:crypto';
import { HOUR_MS } from '../../core/values/duration.ts';
import type { Scope } from '../../core/access/scope.ts';
import type { SsoUser } from '../../core/identity/sso-user.ts';
import { type Actor, audit } from './audit.ts';
import { type Credential, VALID } from './credentials.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { hashSecret } from './keys.ts';

/**
 * A browser session. It begins with a key, or with a user whom the identity provider signed in. It
 * ends at logout, when it is revoked, after an hour without use, after twelve hours, and as soon as
 * its key is invalid.
 */
export const SESSION_MS = 12 * HOUR_MS;
export const SESSION_IDLE_MS = HOUR_MS;
/** Per key and per user. Beyond that, the session that was unused for the longest time ends. */
export const SESSIONS_MAX = 100;
/** Minimum time between two updates of `seen_at`. */
const TOUCH_MS = 60_000;
const USER_AGENT_MAX = 300;

/** Whose session it is. A user keeps the scopes of the sign-in. */
export type SessionOwner =
  | { tenant: string; keyId: string; user: null; scopes: null }
  | { tenant: string; keyId: null; user: SsoUser; scopes: readonly Scope[] };

/** `$2` is the idle limit. Of `s` and the left join of its key, `k`. */
export const LIVE = `s.expires_at > clock_timestamp()
  and s.seen_at > clock_timestamp() - make_interval(secs => $2::float8 / 1000)
  and (s.key_id is null or (k.id is not null and ${VALID}))`;

const INSERT = statement<{ expires_at: Date }>(
  'insert_session',
  `with old as (
    delete from longshore.session where expires_at < clock_timestamp()
  ), crowd as (
    delete from longshore.session where id_hash in (
      select s.id_hash from longshore.session s
      where s.key_id is not distinct from $5
        and s.issuer is not distinct from $6 and s.subject is not distinct from $7
      order by s.seen_at desc offset $3 - 1)
  )
  insert into longshore.session (id_hash, expires_at, tenant, key_id, issuer, subject, user_name,
    email, scopes, address, user_agent)
  values ($1, clock_timestamp() + make_interval(secs => $2::float8 / 1000), $4, $5, $6, $7, $8, $9,
    $10, $11, $12)
  returning expires_at`,
);

/** `secret` is the value of the cookie. Its hash is stored, and the start of the hash is the id. */
export interface BegunSession {
  secret: string;
  sessionId: string;
  expiresAt: Date;
}

/** A new secret at each login, so that one known from before (session fixation) is useless. */
export async function beginSession(
  db: Db,
  by: Actor,
  { tenant, keyId, user, scopes }: SessionOwner,
  userAgent: string | null,
): Promise<BegunSession> {
  const secret = randomBytes(32).toString('hex');
  const sessionId = sessionIdOf(secret);
  const named = [user?.issuer ?? null, user?.subject ?? null, user?.name ?? null];
  const agent = userAgent?.slice(0, USER_AGENT_MAX) ?? null;
  const owner = [tenant, keyId, ...named, user?.email ?? null, scopes, by.address, agent];
  return await db.transaction(async (tx) => {
    const [row] = await tx.run(INSERT, [hashSecret(secret), SESSION_MS, SESSIONS_MAX, ...owner]);
    if (!row) throw new Error('the session was not stored');
    const after = keyId === null ? { ...user, scopes } : { keyId };
    await audit(tx, by, { tenant, action: 'session.begin', subject: sessionId, after });
    return { secret, sessionId, expiresAt: row.expires_at };
  });
}

/** The rights of a live session. */
export interface FoundSession extends Omit<Credential, 'keyId'> {
  sessionId: string;
  keyId: string | null;
  user: SsoUser | null;
  expiresAt: string;
}

export interface UserColumns {
  issuer: string | null;
  subject: string | null;
  user_name: string | null;
  email: string | null;
}

const FIND = statement<
  UserColumns & {
    key_id: string | null;
    key_name: string | null;
    tenant: string;
    scopes: Scope[] | null;
    definitions: string[] | null;
    expires_at: Date;
  }
>(
  'find_session',
  `with found as (
    select s.id_hash, s.key_id, k.name as key_name, s.tenant,
      coalesce(s.scopes, k.scopes) as scopes, k.definitions, s.issuer, s.subject, s.user_name, s.email, s.expires_at
    from longshore.session s left join longshore.api_key k on k.id = s.key_id
    where s.id_hash = $1 and ${LIVE}
  ), touched as (
    update longshore.session s set seen_at = clock_timestamp()
    from found f where s.id_hash = f.id_hash
      and s.seen_at < clock_timestamp() - make_interval(secs => $3::float8 / 1000)
  )
  select key_id, key_name, tenant, scopes, definitions, issuer, subject, user_name, email,
    expires_at
  from found`,
);

export async function findSession(db: Queryable, secret: string): Promise<FoundSession | null> {
  const [row] = await db.run(FIND, [hashSecret(secret), SESSION_IDLE_MS, TOUCH_MS]);
  if (!row) return null;
  const { key_id: keyId, tenant, scopes, definitions, expires_at: expiresAt } = row;
  return {
    sessionId: sessionIdOf(secret),
    keyId,
    keyName: row.key_name,
    tenant,
    scopes: scopes ?? [],
    definitions,
    user: userIn(row),
    expiresAt: expiresAt.toISOString(),
  };
}

export function userIn({ issuer, subject, user_name: name, email }: UserColumns): SsoUser | null {
  return issuer === null || subject === null ? null : { issuer, subject, name, email };
}

const MARKS = statement<{ mark: string }>(
  'live_session_marks',
  `select encode(substring(s.id_hash from 1 for 8), 'hex') as mark from longshore.session s
   where s.expires_at > clock_timestamp()`,
);

/** The public id of a session. It does not reveal the secret. */
export function sessionIdOf(secret: string): string {
  return hashSecret(secret).subarray(0, 8).toString('hex');
}

/** Of all tenants. The rate limiter uses it to refuse guessed cookies without a query each. */
export async function liveSessionIds(db: Queryable): Promise<ReadonlySet<string>> {
  return new Set((await db.run(MARKS)).map(({ mark }) => mark));
}

const END = statement<{ tenant: string }>(
  'end_session',
  'delete from longshore.session where id_hash = $1 returning tenant',
);

/** After this its cookie is invalid, also copies of it. */
export async function endSession(db: Db, by: Actor, secret: string): Promise<void> {
  await db.transaction(async (tx) => {
    const [ended] = await tx.run(END, [hashSecret(secret)]);
    if (!ended) return;
    const { tenant } = ended;
    await audit(tx, by, { tenant, action: 'session.end', subject: sessionIdOf(secret) });
  });
}
