import type { AuditView } from '../../core/access/audit.ts';
import { Db, type Queryable, statement } from '../connection/db.ts';

/**
 * What people did by hand, one row for each, in the transaction of the entry itself: there is none
 * without the other. Rows are only ever added; the database refuses everything else.
 */

/** Who does something: shown as it is in the audit log, so it never holds a secret. */
export interface Actor {
  /** Such as `key:1f0c…`, `session:1f0c…` (of that key), `open` (a server without keys) or `cli`. */
  name: string;
  /** Where the request came from. */
  address: string | null;
}

export interface AuditEntry {
  tenant: string;
  /** A noun and a verb, such as `job.cancel`. */
  action: string;
  /** What it was done to: the id of it. */
  subject: string;
  before?: unknown;
  after?: unknown;
}

const WRITE = statement<{ id: string }>(
  'write_audit',
  `insert into longshore.audit (id, tenant, actor, action, subject, before, after, address)
   values ($1, $2, $3, $4, $5, $6::json, $7::json, $8) returning id`,
);

export async function audit(tx: Queryable, by: Actor, entry: AuditEntry): Promise<void> {
  const { tenant, action, subject, before, after } = entry;
  const changed = [jsonOf(before), jsonOf(after)];
  await tx.run(WRITE, [tx.ids.next(0), tenant, by.name, action, subject, ...changed, by.address]);
}

/**
 * Does something and writes it down in one transaction, which may be under way already. `auditEntryOf` sees
 * what came of it; null means that nothing was done. Without an actor it is simply done: what the
 * machine does by itself is not audited.
 */
export async function audited<T>(
  db: Queryable,
  by: Actor | null,
  work: (tx: Queryable) => Promise<T>,
  auditEntryOf: (result: T) => AuditEntry | null,
): Promise<T> {
  if (by === null) return await work(db);
  const within = async (tx: Queryable) => {
    const result = await work(tx);
    const entry = auditEntryOf(result);
    if (entry) await audit(tx, by, entry);
    return result;
  };
  return db instanceof Db ? await db.transaction(within) : await within(db);
}

export interface AuditFilter {
  tenant: string;
  actor: string | null;
  action: string | null;
  subject: string | null;
  after: Date | null;
  before: Date | null;
  /** The last id of the page before. */
  afterId: string | null;
  limit: number;
}

interface AuditRow extends Omit<AuditView, 'at'> {
  at: Date;
}

const COLUMNS = 'id, at, tenant, actor, action, subject, before, after, address';

const REST = `and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     and ($4::text is null or actor = $4) and ($5::text is null or action = $5)
     and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
   order by id desc limit $8`;

const LIST = statement<AuditRow>(
  'list_audit',
  `select ${COLUMNS} from longshore.audit where tenant = $1 and $3::text is null ${REST}`,
);

const LIST_OF = statement<AuditRow>(
  'list_audit_of',
  `select ${COLUMNS} from longshore.audit where tenant = $1 and subject = $3 ${REST}`,
);

/** The newest first. */
export async function listAudit(
  db: Queryable,
  { tenant, actor, action, subject, after, before, afterId, limit }: AuditFilter,
): Promise<{ entries: AuditView[]; nextId: string | null }> {
  const values = [tenant, afterId, subject, actor, action, after, before, limit + 1];
  const rows = await db.run(subject === null ? LIST : LIST_OF, values);
  const entries = rows.slice(0, limit).map(viewOf);
  return { entries, nextId: rows.length > limit ? (entries.at(-1)?.id ?? null) : null };
}

function viewOf({ at, ...row }: AuditRow): AuditView {
  return { ...row, at: at.toISOString() };
}

function jsonOf(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}
