import type { BulkAction, BulkView } from '../../core/job/bulk.ts';
import { BULK_STATES, statesMeant } from '../../core/job/bulk.ts';
import type { JobView } from '../../core/job/job.ts';
import type { JobCriteria } from '../../core/job/job-criteria.ts';
import { type Actor, audited } from '../access/audit.ts';
import { type BulkHow, bulkMoment, insertBulk } from './bulks.ts';
import type { Db } from '../connection/db.ts';
import { sendDueHint } from '../connection/due-hint.ts';
import { findJobs } from '../read/find-jobs.ts';
import { namedById } from '../read/named-by-id.ts';
import { viewAll } from '../read/view-page.ts';

export interface BulkRequest {
  tenant: string;
  action: BulkAction;
  criteria: JobCriteria;
  how: BulkHow;
}

export interface BulkPreview {
  action: BulkAction;
  matched: number;
  /** False when there are more: the count has a bound. */
  matchedIsExact: boolean;
  /** The oldest ones. */
  sample: JobView[];
}

/** Bounds of the count before a bulk action; the action itself has none. */
const COUNT_MAX = 10_000;
const SEARCHES_MAX = 6;
const SAMPLE_SIZE = 5;

/** Stores the bulk action; a scheduler works it off. */
export async function startBulk(
  db: Db,
  request: BulkRequest,
  by: Actor | null = null,
): Promise<BulkView> {
  const { tenant, action, how } = request;
  const criteria = await meant(db, request);
  const asOf = await bulkMoment(db);
  const { found, matchedIsExact } = await count(db, tenant, criteria, asOf);
  const id = db.ids.next(0);
  const matched = found.length;
  const bulk = { id, tenant, action, criteria, how, matched, matchedIsExact, asOf };
  const made = await audited(
    db,
    by,
    async (tx) => await insertBulk(tx, bulk),
    ({ filter }) => ({ tenant, action: `bulk.${action}`, subject: id, after: { filter, matched } }),
  );
  await sendDueHint(db, { kind: 'bulk', inMs: 0 }).catch(() => undefined);
  return made;
}

/** What a bulk action would change. */
export async function previewBulk(db: Db, request: BulkRequest): Promise<BulkPreview> {
  const { tenant, action } = request;
  const criteria = await meant(db, request);
  const { found, matchedIsExact } = await count(db, tenant, criteria, await bulkMoment(db));
  const sample = await viewAll(db, tenant, found.slice(0, SAMPLE_SIZE));
  return { action, matched: found.length, matchedIsExact, sample };
}

/** Limits the criteria to the states that the action can change. */
async function meant(db: Db, { tenant, action, criteria }: BulkRequest): Promise<JobCriteria> {
  const states = statesMeant(action, criteria.statuses);
  const statuses = states.filter((state) => BULK_STATES[action].includes(state));
  return await namedById(db, tenant, { ...criteria, statuses });
}

async function count(
  db: Db,
  tenant: string,
  criteria: JobCriteria,
  asOf: string,
): Promise<{ found: string[]; matchedIsExact: boolean }> {
  const found: string[] = [];
  let searches = 0;
  for (let shard = 0; shard < db.shards; shard += 1) {
    let afterId: string | null = null;
    do {
      if (searches >= SEARCHES_MAX || found.length >= COUNT_MAX)
        return { found, matchedIsExact: false };
      const limit: number = COUNT_MAX - found.length;
      const walk = { tenant, criteria, newestFirst: false, afterId, limit, asOf };
      const seen = await findJobs(db, shard, walk);
      found.push(...seen.ids);
      afterId = seen.reachedId;
      searches += 1;
    } while (afterId !== null);
  }
  return { found, matchedIsExact: true };
}
