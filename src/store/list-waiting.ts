import type { JobView } from '../core/job.ts';
import { ANY_JOB, type JobCriteria, needsSieve } from '../core/job-criteria.ts';
import { jobIdFloor } from '../core/job-id.ts';
import type { Db, Queryable, Statement } from './db.ts';
import { statement } from './db.ts';
import { lanesOf } from './find-jobs.ts';
import { FIRST_ID, LAST_ID } from './id-range.ts';
import { viewAll } from './list-jobs.ts';
import { sieveJobs } from './sieve-jobs.ts';

/**
 * Jobs that wait, in the order in which they will have their turn: by their time, or, of those that
 * are queued, by priority and place in the line. Both orders are those of an index, so a page costs
 * what it holds. A job that moves while somebody pages through is shown in its new place, or missed.
 */
export type WaitingSort = 'runAt' | '-priority';

/** A place in either order: microseconds and 0, or rank and place in the line; then the id. */
export interface WaitingPlace {
  a: number;
  b: number;
  id: string;
}

export interface WaitingFilter extends Partial<JobCriteria> {
  tenant: string;
  sort: WaitingSort;
  after: WaitingPlace | null;
  limit: number;
  unhandledAfterMs?: number | undefined;
}

/** `is true` keeps the planner from walking by id instead, which would read all that wait. */
const FITTING = `w.state = any ($3::longshore.job_state[]) and (w.id >= $4 and w.id < $5) is true
  and ($6::text is null or (
    select tags @> array[$6] from longshore.job j where j.shard = $1 and j.id = w.id))`;

/** Those of one moment have no order in the index, so all of them are read before the page is cut. */
const RUN_AT: Statement<WaitingPlace> = statement(
  'list_by_run_at',
  `select w.id, (extract(epoch from w.run_at) * 1000000)::bigint as a, 0 as b
   from (
     select w.id, w.run_at from longshore.waiting w
     where w.shard = $1 and w.state in ('scheduled', 'retrying')
       and w.run_at >= timestamptz 'epoch' + $8::float8 * interval '1 microsecond'
       and w.run_at < coalesce($10::timestamptz, 'infinity')
       and ((w.run_at, w.id)
         > (timestamptz 'epoch' + $8::float8 * interval '1 microsecond', $9::uuid)) is true
       and w.lane = any ($2::int[]) and ${FITTING}
     order by w.run_at fetch first ($7) rows with ties
   ) w
   order by w.run_at, w.id limit $7`,
);

const PRIORITY: Statement<WaitingPlace> = statement(
  'list_by_priority',
  `select w.* from unnest($2::int[]) as l(lane)
   cross join lateral (
     select w.id, w.rank as a, w.seq as b from longshore.waiting w
     where w.shard = $1 and w.lane = l.lane and ${FITTING} and w.seq is not null
       and (w.rank, w.seq) >= ($8::int, $10::bigint)
       and ((w.rank, w.seq, w.id) > ($8::int, $10::bigint, $9::uuid)) is true
     order by w.rank, w.seq fetch first ($7) rows with ties
   ) w
   order by w.a, w.b, w.id limit $7`,
);

/** So many are sieved at a time, and so many at most. */
const SIEVE_SIZE = 500;
const SIEVED_MAX = 2_500;

export async function listWaiting(
  db: Db,
  filter: WaitingFilter,
): Promise<{ jobs: JobView[]; next: WaitingPlace | null }> {
  const criteria = { ...ANY_JOB, ...filter };
  const found: Found[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    found.push(await walk(db, shard, filter, criteria));
  }
  const [nearest] = found.flatMap(({ reached }) => reached ?? []).sort(inOrder);
  const places = found
    .flatMap((one) => one.places)
    .filter((place) => nearest === undefined || inOrder(place, nearest) <= 0)
    .sort(inOrder);
  const page = places.slice(0, filter.limit);
  const ids = page.map(({ id }) => id);
  const views = await viewAll(db, filter.tenant, ids, filter.unhandledAfterMs);
  const next = places.length > page.length ? page.at(-1) : nearest;
  const jobs = views.filter(({ status }) => criteria.statuses.includes(status));
  return { jobs, next: next ?? null };
}

interface Found {
  places: WaitingPlace[];
  /** Everything up to here has been looked at; null when there is nothing after it. */
  reached: WaitingPlace | null;
}

async function walk(
  db: Queryable,
  shard: number,
  { tenant, sort, after, limit }: WaitingFilter,
  criteria: JobCriteria,
): Promise<Found> {
  const lanes = await lanesOf(db, shard, tenant, criteria.definitionKey);
  if (lanes.length === 0) return { places: [], reached: null };
  const size = needsSieve(criteria) ? SIEVE_SIZE : limit + 1;
  const places: WaitingPlace[] = [];
  let reached = after ?? start(sort, criteria);
  for (let passed = 0; passed < SIEVED_MAX; passed += size) {
    const some = await passBy(db, shard, lanes, sort, criteria, reached, size);
    const ids = some.map(({ id }) => id);
    const kept = new Set(
      needsSieve(criteria) ? await sieveJobs(db, shard, ids, criteria, null) : ids,
    );
    places.push(...some.filter(({ id }) => kept.has(id)));
    if (places.length > limit) {
      const first = places.slice(0, limit);
      return { places: first, reached: first.at(-1) ?? null };
    }
    if (some.length < size) return { places, reached: null };
    reached = some.at(-1) ?? reached;
  }
  return { places, reached };
}

async function passBy(
  db: Queryable,
  shard: number,
  lanes: readonly number[],
  sort: WaitingSort,
  { statuses, tag, createdAfter, createdBefore, runBefore }: JobCriteria,
  { a, b, id }: WaitingPlace,
  size: number,
): Promise<WaitingPlace[]> {
  const low = createdAfter ? jobIdFloor(createdAfter.getTime()) : FIRST_ID;
  const high = createdBefore ? jobIdFloor(createdBefore.getTime()) : LAST_ID;
  const values = [shard, lanes, statuses, low, high, tag, size, a, id];
  if (sort === 'runAt') return await db.run(RUN_AT, [...values, runBefore]);
  return await db.run(PRIORITY, [...values, b]);
}

/** Before everything that can be asked for. */
function start(sort: WaitingSort, { runAfter }: JobCriteria): WaitingPlace {
  if (sort === '-priority') return { a: -2_147_483_648, b: 0, id: FIRST_ID };
  return { a: (runAfter?.getTime() ?? 0) * 1_000 - 1, b: 0, id: LAST_ID };
}

function inOrder(x: WaitingPlace, y: WaitingPlace): number {
  if (x.a !== y.a) return x.a - y.a;
  if (x.b !== y.b) return x.b - y.b;
  if (x.id === y.id) return 0;
  return x.id < y.id ? -1 : 1;
}
