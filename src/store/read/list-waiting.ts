import type { JobView } from '../../core/job/job.ts';
import { ANY_JOB, type JobCriteria, needsFilter } from '../../core/job/job-criteria.ts';
import type { Db, Queryable, Statement } from '../connection/db.ts';
import { statement } from '../connection/db.ts';
import { filterOnly } from '../connection/planner.ts';
import { FIRST_ID, idRange, LAST_ID } from '../connection/id-range.ts';
import { narrow, type Narrowed } from '../../core/search/narrow.ts';
import { FILTER_BATCH, FILTERED_MAX, filterJobs } from './filter-jobs.ts';
import { type JobSearch, locate, needsSearch } from './search-queues.ts';
import { firstOf, mergeWalks, viewWalk, type Walk, walkOf } from './walk.ts';

/**
 * Waiting jobs in the order in which they run: by time, or, if queued, by priority and position in
 * the level. Both orders come from an index, so the cost of a page depends on its own jobs only. A
 * job that moves between two pages appears at its new position, or is missed.
 */
export type WaitingSort = 'runAt' | '-priority';

/** A cursor in either order: microseconds and 0, or rank and position in the level; then the id. */
export interface WaitingCursor {
  a: number;
  b: number;
  id: string;
}

export interface WaitingFilter extends Partial<JobCriteria> {
  tenant: string;
  sort: WaitingSort;
  after: WaitingCursor | null;
  limit: number;
  unservedAfterMs?: number | undefined;
}

type Passed = WaitingCursor & { fits: boolean };

/**
 * Uses an index that all queues share. When few rows match, it ends after $8 rows and returns the
 * last one.
 */
const RUN_AT: Statement<Passed> = statement(
  'list_by_run_at',
  `with passed as materialized (
     select id, queue, state, (extract(epoch from run_at) * 1000000)::bigint as a
     from longshore.waiting
     where shard = $1 and state in ('scheduled', 'retrying', 'suspended') and (run_at, id)
         > (timestamptz 'epoch' + $5::float8 * interval '1 microsecond', $4::uuid)
       and run_at < coalesce($6::timestamptz, 'infinity')
     order by run_at, id limit $8
   ),
   fitting as materialized (
     select id, a from passed
     where queue = any ($2::int[]) and state = any ($7::longshore.job_state[]) limit $3
   )
   select id, a, 0 as b, true as fits from fitting
   union all
   (select id, a, 0, false from passed where (select count(*) from fitting) < $3 offset $8 - 1)`,
);

/**
 * Jobs at one position have no order in the index, so all of them are read before the page is cut.
 */
const PRIORITY: Statement<Passed> = statement(
  'list_by_priority',
  `select w.*, true as fits from unnest($2::int[]) as l(queue)
   cross join lateral (
     select w.id, w.rank as a, w.seq as b from longshore.waiting w
     where w.shard = $1 and w.queue = l.queue and w.seq is not null
       and (w.rank, w.seq) >= ($5::int, $6::bigint)
       and ${filterOnly('(w.rank, w.seq, w.id) > ($5::int, $6::bigint, $4::uuid)')}
     order by w.rank, w.seq fetch first ($3) rows with ties
   ) w
   order by w.a, w.b, w.id limit $3`,
);

/** Rows read at most, a third of a microsecond each. */
const PASSED_MAX = 20_000;

export async function listWaiting(
  db: Db,
  filter: WaitingFilter,
): Promise<{ jobs: JobView[]; next: WaitingCursor | null }> {
  const narrowed = narrow({ ...ANY_JOB, ...filter });
  if (narrowed === null) return { jobs: [], next: null };
  const { criteria } = narrowed;
  const found: WaitingWalk[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    found.push(await walk(db, shard, filter, narrowed));
  }
  const page = mergeWalks(found, inOrder, filter.limit);
  const { views, next } = await viewWalk(db, filter.tenant, page, filter.unservedAfterMs);
  return { jobs: views.filter(({ status }) => criteria.statuses.includes(status)), next };
}

type WaitingWalk = Walk<WaitingCursor, WaitingCursor>;

async function walk(
  db: Queryable,
  shard: number,
  { tenant, sort, after, limit }: WaitingFilter,
  narrowed: Narrowed,
): Promise<WaitingWalk> {
  const { queues, criteria, filter } = await locate(db, shard, tenant, narrowed);
  if (queues.length === 0) return { entries: [], reached: null };
  const size = isKnown(criteria, filter) ? limit + 1 : FILTER_BATCH;
  const entries: WaitingCursor[] = [];
  let reached: WaitingCursor | null = after ?? start(sort, criteria);
  for (let passed = 0; passed < FILTERED_MAX; passed += size) {
    const some = await passBy(db, shard, queues, sort, criteria, reached, size);
    entries.push(...(await filterEntries(db, shard, some.entries, criteria, filter)));
    if (entries.length > limit) return firstOf(entries, limit);
    reached = some.reached;
    if (reached === null || some.entries.length < size) break;
  }
  return { entries, reached };
}

/** Whether the index alone covers the criteria. */
function isKnown(criteria: JobCriteria, filter: JobSearch): boolean {
  const { tag, createdAfter, createdBefore } = criteria;
  const checked = needsFilter(criteria) || needsSearch(filter);
  return !checked && tag === null && createdAfter === null && createdBefore === null;
}

async function filterEntries(
  db: Queryable,
  shard: number,
  entries: WaitingCursor[],
  criteria: JobCriteria,
  filter: JobSearch,
): Promise<WaitingCursor[]> {
  if (isKnown(criteria, filter)) return entries;
  const [low, high] = idRange(criteria, false, null, null);
  const young = entries.map(({ id }) => id).filter((id) => id >= low && id < high);
  const kept = new Set(await filterJobs(db, shard, young, criteria, filter, null));
  return entries.filter(({ id }) => kept.has(id));
}

async function passBy(
  db: Queryable,
  shard: number,
  queues: readonly number[],
  sort: WaitingSort,
  { statuses, runBefore }: JobCriteria,
  { a, b, id }: WaitingCursor,
  size: number,
): Promise<WaitingWalk> {
  const values = [shard, queues, size, id, a];
  const rows =
    sort === 'runAt'
      ? await db.run(RUN_AT, [...values, runBefore, statuses, PASSED_MAX])
      : await db.run(PRIORITY, [...values, b]);
  return walkOf(rows, size);
}

/** The cursor before the first job. */
function start(sort: WaitingSort, { runAfter }: JobCriteria): WaitingCursor {
  if (sort === '-priority') return { a: -2_147_483_648, b: 0, id: FIRST_ID };
  return { a: (runAfter?.getTime() ?? 0) * 1_000 - 1, b: 0, id: LAST_ID };
}

function inOrder(x: WaitingCursor, y: WaitingCursor): number {
  if (x.a !== y.a) return x.a - y.a;
  if (x.b !== y.b) return x.b - y.b;
  if (x.id === y.id) return 0;
  return x.id < y.id ? -1 : 1;
}
