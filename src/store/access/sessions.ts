import { randomBytes } from 'node:crypto';
import { HOUR_MS } from '../../core/values/duration.ts';
import type { Scope } from '../../core/access/scope.ts';
import { type Actor, audit } from './audit.ts';
import { type Credential, VALID } from './credentials.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { hashOf } from './keys.ts';

/**
 * A browser's stay. It begins with a key, and ends when somebody logs out, when nobody used it for an
 * hour, after twelve hours in any case, and at once when its key does not count any more.
 */
export const SESSION_MS = 12 * HOUR_MS;
const SESSION_IDLE_MS = HOUR_MS;
/** Of one key. With more, the one that was not used for the longest time ends. */
export const SESSIONS_MAX = 100;
/** More often than this its use is not written down. */
const TOUCH_MS = 60_000;

const INSERT = statement<{ expires_at: Date }>(
  'insert_session',
  `with old as (
    delete from longshore.session where expires_at < clock_timestamp()
  ), crowd as (
    delete from longshore.session where id_hash in (
      select s.id_hash from longshore.session s where s.key_id = $2
      order by s.seen_at desc offset $4 - 1)
  )
  insert into longshore.session (id_hash, key_id, expires_at)
  values ($1, $2, clock_timestamp() + make_interval(secs => $3::float8 / 1000))
  returning expires_at`,
);

/** A new id at each login, so that an id known from before (session fixation) is useless. */
export async function beginSession(
  db: Db,
  by: Actor,
  { keyId, tenant }: Credential,
): Promise<{ sessionId: string; expiresAt: Date }> {
  const sessionId = randomBytes(32).toString('hex');
  return await db.transaction(async (tx) => {
    const [row] = await tx.run(INSERT, [hashOf(sessionId), keyId, SESSION_MS, SESSIONS_MAX]);
    if (!row) throw new Error('the session was not stored');
    await audit(tx, by, { tenant, action: 'session.begin', subject: keyId });
    return { sessionId, expiresAt: row.expires_at };
  });
}

const FIND = statement<{ key_id: string; tenant: string; scopes: Scope[]; expires_at: Date }>(
  'find_session',
  `with found as (
    select s.id_hash, s.key_id, k.tenant, k.scopes, s.expires_at
    from longshore.session s join longshore.api_key k on k.id = s.key_id
    where s.id_hash = $1 and s.expires_at > clock_timestamp() and ${VALID}
      and s.seen_at > clock_timestamp() - make_interval(secs => $2::float8 / 1000)
  ), touched as (
    update longshore.session s set seen_at = clock_timestamp()
    from found f where s.id_hash = f.id_hash
      and s.seen_at < clock_timestamp() - make_interval(secs => $3::float8 / 1000)
  )
  select key_id, tenant, scopes, expires_at from found`,
);

export async function findSession(
  db: Queryable,
  sessionId: string,
): Promise<(Credential & { expiresAt: string }) | null> {
  const [row] = await db.run(FIND, [hashOf(sessionId), SESSION_IDLE_MS, TOUCH_MS]);
  if (!row) return null;
  const { key_id: keyId, tenant, scopes, expires_at: expiresAt } = row;
  return { keyId, tenant, scopes, expiresAt: expiresAt.toISOString() };
}

const MARKS = statement<{ mark: string }>(
  'live_session_marks',
  `select encode(substring(s.id_hash from 1 for 8), 'hex') as mark from longshore.session s
   where s.expires_at > clock_timestamp()`,
);

/** An identifier of a session that does not reveal its secret. */
export function sessionMark(sessionId: string): string {
  return hashOf(sessionId).subarray(0, 8).toString('hex');
}

/** Of all tenants: for the door, which must know whether a cookie can be right before it asks. */
export async function liveSessionMarks(db: Queryable): Promise<ReadonlySet<string>> {
  return new Set((await db.run(MARKS)).map(({ mark }) => mark));
}

const END = statement<{ key_id: string }>(
  'end_session',
  'delete from longshore.session where id_hash = $1 returning key_id',
);

/** From here on its cookie is worth nothing, wherever it was copied to. */
export async function endSession(
  db: Db,
  by: Actor,
  tenant: string,
  sessionId: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const [ended] = await tx.run(END, [hashOf(sessionId)]);
    if (ended) await audit(tx, by, { tenant, action: 'session.end', subject: ended.key_id });
  });
}
