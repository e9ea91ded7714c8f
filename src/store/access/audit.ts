import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import type { AuditView } from '../../core/access/audit.ts';
import { jobIdFloor } from '../../core/job/job-id.ts';
import { inTransaction, type Queryable, statement } from '../connection/db.ts';

/**
 * The audit log: one entry per manual change, in the transaction of the change. The database
 * refuses to change or delete entries.
 */

/** The author of a change. Shown in the audit log, so it never contains a secret. */
export interface Actor {
  /**
   * Such as `key:1f0c… (ci)`, `session:1f0c… (ada)` (of that key), `user:ada@example.com (248289)`,
   * `anonymous (no keys)` or `cli`.
   */
  name: string;
  /** Source address of the request. */
  address: string | null;
}

export interface AuditEntry {
  tenant: string;
  /** A noun and a verb, such as `job.cancel`. */
  action: string;
  /** The id of the changed object. */
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
  for (const log of logsOf(tenant, action)) {
    await tx.run(WRITE, [tx.ids.next(0), log, by.name, action, subject, ...changed, by.address]);
  }
}

/** An admin of the default tenant changes tenants, so it is in both logs. */
function logsOf(tenant: string, action: string): string[] {
  const isOfTenant = action.startsWith('tenant.') && tenant !== DEFAULT_TENANT;
  return isOfTenant ? [tenant, DEFAULT_TENANT] : [tenant];
}

/**
 * Makes a change and writes its audit entry in one transaction, which may be in progress already.
 * `auditEntryOf` gets the result; null means that nothing changed. Without an actor no entry is
 * written: changes of the system itself are not audited.
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
  return await inTransaction(db, within);
}

export interface AuditFilter {
  tenant: string;
  actor: string | null;
  action: string | null;
  subject: string | null;
  /** Part of the actor, action, subject, address or change, in any case. */
  text: string | null;
  after: Date | null;
  before: Date | null;
  /** Last id of the previous page. */
  afterId: string | null;
  limit: number;
}

interface AuditRow extends Omit<AuditView, 'at'> {
  at: Date;
}

const COLUMNS = 'id, at, tenant, actor, action, subject, before, after, address';

/**
 * Ids are made by the server's clock, times by the database's, which may differ by less than this.
 * So a period is a range of ids as well, and a search for a text reads only the entries in it.
 */
const CLOCKS_MS = 3_600_000;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const REST = `and id < $2::uuid and id >= $9::uuid
     and ($4::text is null or actor = $4 or starts_with(actor, $4 || ' ('))
     and ($5::text is null or action = $5)
     and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
     and ($10::text is null or position($10 in
       lower(concat_ws(' ', actor, action, subject, address, before::text, after::text))) > 0)
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
  { tenant, actor, action, subject, text, after, before, afterId, limit }: AuditFilter,
): Promise<{ entries: AuditView[]; nextId: string | null }> {
  const firstId = jobIdFloor(after === null ? 0 : after.getTime() - CLOCKS_MS);
  const endId = before === null ? LAST_ID : jobIdFloor(before.getTime() + CLOCKS_MS);
  const belowId = afterId !== null && afterId < endId ? afterId : endId;
  const wanted = text?.toLowerCase() ?? null;
  const filters = [subject, actor, action, after, before];
  const values = [tenant, belowId, ...filters, limit + 1, firstId, wanted];
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
