import type { BulkAction, BulkStatus, BulkView } from '../../core/job/bulk.ts';
import { ANY_JOB, type JobCriteria } from '../../core/job/job-criteria.ts';
import type { RetryRequest } from '../../core/failure/retry.ts';
import { type Actor, audited } from '../access/audit.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** How jobs are retried, and how many per second. */
export type BulkHow = RetryRequest & { ratePerSecond: number | null };

export interface NewBulk {
  id: string;
  tenant: string;
  action: BulkAction;
  criteria: JobCriteria;
  how: BulkHow;
  matched: number;
  matchedIsExact: boolean;
  asOf: string;
}

interface BulkRow {
  id: string;
  tenant: string;
  action: BulkAction;
  filter: Record<string, unknown>;
  how: BulkHow;
  status: BulkStatus;
  before: string;
  matched: number;
  matched_exactly: boolean;
  at_shard: number;
  after_id: string | null;
  changed: number;
  skipped: number;
  failed: number;
  note: string | null;
  finished_at: Date | null;
}

const COLUMNS = `id, tenant, action, filter, how, status, to_json(before) #>> '{}' as before, matched, matched_exactly, at_shard,
  after_id, changed, skipped, failed, note, finished_at`;

const NOW = statement<{ now: string }>(
  'bulk_clock',
  `select to_json(clock_timestamp()) #>> '{}' as now`,
);

/** The start of a bulk action: the text of the database, which has microseconds. */
export async function bulkMoment(db: Queryable): Promise<string> {
  const [row] = await db.run(NOW);
  if (!row) throw new Error('the database returned no time');
  return row.now;
}

const INSERT = statement<BulkRow>(
  'insert_bulk',
  `insert into longshore.bulk
     (id, tenant, action, filter, how, before, matched, matched_exactly, next_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
   returning ${COLUMNS}`,
);

export async function insertBulk(db: Queryable, bulk: NewBulk): Promise<BulkView> {
  const { id, tenant, action, criteria, how, matched, matchedIsExact, asOf } = bulk;
  const said = Object.entries(criteria).filter(([, value]) => value !== null);
  const filter = JSON.stringify(Object.fromEntries(said));
  const paramsJson = how.paramsJson === null ? null : db.vault.seal(tenant, how.paramsJson);
  const sealed = JSON.stringify({ ...how, paramsJson });
  const values = [id, tenant, action, filter, sealed, asOf, matched, matchedIsExact];
  const [row] = await db.run(INSERT, values);
  if (!row) throw new Error('the bulk action was not stored');
  return viewOf(row);
}

const GET = statement<BulkRow>(
  'get_bulk',
  `select ${COLUMNS} from longshore.bulk where id = $1 and tenant = $2`,
);

export async function getBulk(db: Queryable, tenant: string, id: string): Promise<BulkView | null> {
  const [row] = await db.run(GET, [id, tenant]);
  return row ? viewOf(row) : null;
}

const LIST = statement<BulkRow>(
  'list_bulks',
  `select ${COLUMNS} from longshore.bulk
   where tenant = $1 and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
   order by id desc limit $3`,
);

/** The newest first. */
export async function listBulks(
  db: Queryable,
  tenant: string,
  { afterId, limit }: { afterId: string | null; limit: number },
): Promise<{ bulks: BulkView[]; nextId: string | null }> {
  const rows = await db.run(LIST, [tenant, afterId, limit + 1]);
  const bulks = rows.slice(0, limit).map(viewOf);
  return { bulks, nextId: rows.length > limit ? (bulks.at(-1)?.bulkId ?? null) : null };
}

/** Waits for the batch in progress; no other batch begins. */
const ABORT = statement<BulkRow>(
  'abort_bulk',
  `update longshore.bulk set status = 'aborted', finished_at = clock_timestamp()
   where id = $1 and tenant = $2 and status = 'running'
   returning ${COLUMNS}`,
);

/** Null when it does not run or does not exist. */
export async function abortBulk(
  db: Queryable,
  tenant: string,
  id: string,
  by: Actor | null = null,
): Promise<BulkView | null> {
  const abort = async (tx: Queryable) => (await tx.run(ABORT, [id, tenant]))[0];
  const row = await audited(db, by, abort, (aborted) =>
    aborted ? { tenant, action: 'bulk.abort', subject: id } : null,
  );
  return row ? viewOf(row) : null;
}

/** A bulk action whose next batch is due. */
export interface DueBulk {
  id: string;
  tenant: string;
  action: BulkAction;
  criteria: JobCriteria;
  how: BulkHow;
  asOf: string;
  shard: number;
  afterId: string | null;
  /** The actor who started it, as in the audit log. */
  by: string | null;
}

/**
 * Takes the one that has waited longest. The lock is held until the batch is committed, so no
 * other scheduler works on it. When a scheduler is killed, the lock is freed and its batch is
 * rolled back.
 */
const LOCK_DUE = statement<BulkRow & { by: string | null }>(
  'lock_due_bulk',
  `select ${COLUMNS}, (
     select a.actor from longshore.audit a
     where a.tenant = bulk.tenant and a.subject = bulk.id::text order by a.id limit 1) as by
   from longshore.bulk
   where status = 'running' and next_at <= clock_timestamp() and ($1::uuid is null or id = $1)
   order by next_at limit 1 for update skip locked`,
);

export async function lockDueBulk(tx: Queryable, id: string | null): Promise<DueBulk | null> {
  const [row] = await tx.run(LOCK_DUE, [id]);
  if (!row) return null;
  const { tenant, action, how, before, at_shard: shard, after_id: afterId } = row;
  const runAt = how.runAt === null ? null : new Date(how.runAt);
  return {
    id: row.id,
    tenant,
    action,
    criteria: { ...ANY_JOB, ...revived(row.filter) },
    how: { ...how, runAt },
    asOf: before,
    shard,
    afterId,
    by: row.by,
  };
}

export interface BulkProgress {
  shard: number;
  afterId: string | null;
  changed: number;
  skipped: number;
  failed: number;
  note: string | null;
  finished: boolean;
  /** Time until the next batch. */
  pauseMs: number;
}

const ADVANCE = statement<{ id: string }>(
  'advance_bulk',
  `update longshore.bulk set at_shard = $2, after_id = $3, changed = changed + $4,
     skipped = skipped + $5, failed = failed + $6, note = coalesce($7, note),
     status = case when $8 then 'finished' else status end,
     finished_at = case when $8 then clock_timestamp() end,
     next_at = clock_timestamp() + make_interval(secs => $9::float8 / 1000)
   where id = $1
   returning id`,
);

export async function advanceBulk(tx: Queryable, id: string, to: BulkProgress): Promise<void> {
  const { shard, afterId, changed, skipped, failed, note, finished, pauseMs } = to;
  await tx.run(ADVANCE, [id, shard, afterId, changed, skipped, failed, note, finished, pauseMs]);
}

const NEXT_DUE = statement<{ ms: number | null }>(
  'next_bulk',
  `select (extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as ms
   from longshore.bulk where status = 'running'`,
);

/** Time until a batch is due; null when no bulk action runs. */
export async function nextBulkMs(db: Queryable): Promise<number | null> {
  return (await db.run(NEXT_DUE))[0]?.ms ?? null;
}

function viewOf(row: BulkRow): BulkView {
  return {
    bulkId: row.id,
    action: row.action,
    status: row.status,
    filter: filterOf(row.filter),
    mode: row.action === 'retry' ? row.how.mode : null,
    ratePerSecond: row.how.ratePerSecond,
    matched: row.matched,
    matchedIsExact: row.matched_exactly,
    done: row.changed,
    skipped: row.skipped,
    failed: row.failed,
    note: row.note,
    createdAt: new Date(row.before).toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}

/** The filter as it was requested. */
function filterOf({ statuses, ...filter }: Record<string, unknown>): Record<string, unknown> {
  return { status: statuses, ...filter };
}

/** JSON has no dates; these fields are known by their names. */
function revived(filter: Record<string, unknown>): Partial<JobCriteria> {
  const entries = Object.entries(filter).map(([name, value]) =>
    /(After|Before)$/.test(name) ? [name, new Date(String(value))] : [name, value],
  );
  return Object.fromEntries(entries) as Partial<JobCriteria>;
}
