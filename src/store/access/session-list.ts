import type { Scope } from '../../core/access/scope.ts';
import { isSessionId, type SessionView } from '../../core/identity/session-view.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { type Actor, audit } from './audit.ts';
import { LIVE, SESSION_IDLE_MS, type UserColumns, userIn } from './sessions.ts';

/** Live sessions of a tenant: all of them, or those of one key or user. */
export interface SessionFilter {
  tenant: string;
  owner: { keyId: string } | { issuer: string; subject: string } | null;
}

/** More than anyone reads. */
const SESSIONS_LISTED_MAX = 1_000;

const OWNED = `s.tenant = $1 and ($3::text is null or s.key_id = $3)
  and ($4::text is null or (s.issuer = $4 and s.subject = $5))`;

interface SessionRow extends UserColumns {
  id: string;
  tenant: string;
  key_id: string | null;
  key_name: string | null;
  scopes: Scope[] | null;
  address: string | null;
  user_agent: string | null;
  created_at: Date;
  seen_at: Date;
  expires_at: Date;
}

const LIST = statement<SessionRow>(
  'list_sessions',
  `select encode(substring(s.id_hash from 1 for 8), 'hex') as id, s.tenant, s.key_id,
     k.name as key_name, s.issuer, s.subject, s.user_name, s.email,
     coalesce(s.scopes, k.scopes) as scopes, s.address, s.user_agent, s.created_at, s.seen_at,
     s.expires_at
   from longshore.session s left join longshore.api_key k on k.id = s.key_id
   where ${OWNED} and ${LIVE}
   order by s.seen_at desc, s.id_hash limit $6`,
);

/** The last used first. */
export async function listSessions(db: Queryable, filter: SessionFilter): Promise<SessionView[]> {
  const rows = await db.run(LIST, [...valuesOf(filter), SESSIONS_LISTED_MAX]);
  return rows.map((row) => ({
    sessionId: row.id,
    tenant: row.tenant,
    keyId: row.key_id,
    keyName: row.key_name,
    user: userIn(row),
    scopes: row.scopes ?? [],
    createdAt: row.created_at.toISOString(),
    seenAt: row.seen_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    address: row.address,
    userAgent: row.user_agent,
  }));
}

const REVOKE = statement<UserColumns & { key_id: string | null; id_hash: Buffer }>(
  'revoke_session',
  `delete from longshore.session s using (
     select s.id_hash from longshore.session s left join longshore.api_key k on k.id = s.key_id
     where ${OWNED} and ${LIVE}
       and s.id_hash between decode($6 || repeat('00', 24), 'hex')
         and decode($6 || repeat('ff', 24), 'hex')
   ) found
   where s.id_hash = found.id_hash
   returning s.id_hash, s.key_id, s.issuer, s.subject, s.user_name, s.email`,
);

/** Ends the session; null when there is none. The hash is that of its cookie. */
export async function revokeSession(
  db: Db,
  by: Actor,
  filter: SessionFilter,
  sessionId: string,
): Promise<Buffer | null> {
  if (!isSessionId(sessionId)) return null;
  return await db.transaction(async (tx) => {
    const [revoked] = await tx.run(REVOKE, [...valuesOf(filter), sessionId]);
    if (!revoked) return null;
    const { key_id: keyId, id_hash: hash } = revoked;
    const before = keyId === null ? { ...userIn(revoked) } : { keyId };
    const { tenant } = filter;
    await audit(tx, by, { tenant, action: 'session.revoke', subject: sessionId, before });
    return hash;
  });
}

function valuesOf({ tenant, owner }: SessionFilter): unknown[] {
  const keyId = owner && 'keyId' in owner ? owner.keyId : null;
  const user = owner && 'issuer' in owner ? owner : null;
  return [tenant, SESSION_IDLE_MS, keyId, user?.issuer ?? null, user?.subject ?? null];
}
