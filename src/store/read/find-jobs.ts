import { type JobCriteria, needsFilter } from '../../core/job/job-criteria.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { narrow } from '../../core/search/narrow.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { idRange } from '../connection/id-range.ts';
import { FILTER_BATCH, FILTERED_MAX, filterJobs } from './filter-jobs.ts';
import { type JobSearch, type Located, locate, needsSearch } from './search-queues.ts';
import { type FoundIds, type Path, type WalkRange, walkJobs } from './walk-jobs.ts';

/**
 * Finds jobs by a walk over ids, which are ordered by time, along the path that is likely the
 * shortest for the criteria (`walk-jobs.ts`). Criteria that the path does not cover are checked on
 * the jobs it passes (`filter-jobs.ts`). Every walk ends after a bounded number of jobs and
 * returns how far it came, so no search keeps the database busy for long. Nothing is counted and
 * no offset is used: page 10,000 costs as much as page 1.
 *
 * Which path is short depends on the data: ten queued jobs of a definition are found at once in a
 * short queue, but not behind a million jobs of others; along the jobs of the definition it is the
 * other way round. So the likely path is tried first, and the other one if that finds too little.
 */
export interface JobWalk extends WalkRange {
  tenant: string;
  /** Number of jobs. `asOf` excludes jobs that were created or ended later. */
  limit: number;
}

/** A tag of more jobs than this is not rare; its jobs are not fetched one by one. */
const RARE_MAX = 5_000;

const NOTHING: FoundIds = { ids: [], reachedId: null };

export async function findJobs(db: Queryable, shard: number, walk: JobWalk): Promise<FoundIds> {
  const narrowed = narrow(walk.criteria);
  if (narrowed === null) return NOTHING;
  return await findLocated(db, shard, walk, await locate(db, shard, walk.tenant, narrowed));
}

/** The same for criteria whose queues are known. */
export async function findLocated(
  db: Queryable,
  shard: number,
  asked: JobWalk,
  { queues, criteria, filter }: Located,
): Promise<FoundIds> {
  if (queues.length === 0) return NOTHING;
  const walk = { ...asked, criteria, filter };
  if (criteria.jobIds !== null) return await findNamed(db, shard, queues, walk);
  const { limit } = walk;
  const path = likelyPath(criteria);
  const found = await findAlong(db, shard, queues, path, walk);
  if (found.ids.length >= limit || found.reachedId === null) return found;
  const rare = criteria.tag === null ? null : await findRare(db, shard, queues, walk);
  if (rare || !found.isSparse) return rare ?? found;
  return farther(found, await findAlong(db, shard, queues, 'queues', walk), walk.newestFirst);
}

type LocatedWalk = JobWalk & { filter: JobSearch };

function likelyPath({ statuses, tag, errorCode, fingerprint }: JobCriteria): Path {
  if (errorCode !== null || fingerprint !== null) return 'errors';
  if (statuses.length > 0) return 'states';
  return tag === null ? 'queues' : 'tag';
}

/** The criteria that must be checked on each job of this path. */
function unknownAlong(path: Path, criteria: JobCriteria): JobCriteria {
  return {
    ...criteria,
    statuses: path === 'states' ? [] : criteria.statuses,
    tag: path === 'tag' ? null : criteria.tag,
  };
}

function isKnown({ asOf = null, filter }: LocatedWalk, unknown: JobCriteria): boolean {
  const { statuses, tag } = unknown;
  const checked = needsFilter(unknown) || needsSearch(filter);
  return asOf === null && !checked && tag === null && statuses.length === 0;
}

/** Sparse: few of the jobs on this path match. */
async function findAlong(
  db: Queryable,
  shard: number,
  queues: readonly number[],
  path: Path,
  walk: LocatedWalk,
): Promise<FoundIds & { isSparse?: boolean }> {
  const { criteria, filter, limit, asOf = null } = walk;
  const unknown = unknownAlong(path, criteria);
  if (isKnown(walk, unknown)) {
    const found = await walkJobs(db, shard, queues, path, walk, limit + 1);
    return found.ids.length > limit ? firstIds(found.ids, limit) : { ...found, isSparse: true };
  }
  const ids: string[] = [];
  let { afterId } = walk;
  for (let passed = 0; passed < FILTERED_MAX; passed += FILTER_BATCH) {
    const some = await walkJobs(db, shard, queues, path, { ...walk, afterId }, FILTER_BATCH);
    ids.push(...(await filterJobs(db, shard, some.ids, unknown, filter, asOf)));
    if (ids.length > limit) return firstIds(ids, limit);
    afterId = some.reachedId;
    if (some.ids.length < FILTER_BATCH) return { ids, reachedId: afterId, isSparse: true };
    if (afterId === null || ids.length === limit) break;
  }
  return { ids, reachedId: afterId };
}

function firstIds(ids: readonly string[], size: number): FoundIds {
  const first = ids.slice(0, size);
  return { ids: first, reachedId: first.at(-1) ?? null };
}

/** The result that came farther; both are correct up to their `reachedId`. */
function farther(one: FoundIds, other: FoundIds, newestFirst: boolean): FoundIds {
  if (one.reachedId === null || other.reachedId === null) {
    return one.reachedId === null ? one : other;
  }
  return one.reachedId < other.reachedId === newestFirst ? one : other;
}

/**
 * The index of tags has no order and no queues; it returns all jobs with a tag. `is not distinct
 * from` hides the shard from other indexes: otherwise the planner, because of the limit, may scan
 * the table.
 */
const byTag = (direction: 'desc' | 'asc') =>
  statement<{ too_many: boolean; ids: string[] }>(
    `list_by_tag_${direction}`,
    `with tagged as materialized (
       select id, queue from longshore.job
       where shard is not distinct from $1 and tags @> array[$6::text] limit $7
     )
     select (select count(*) from tagged) >= $7 as too_many, array(
       select id from tagged where queue = any ($2::int[]) and id >= $3 and id < $4
       order by id ${direction} limit $5
     ) as ids`,
  );
const BY_TAG = { desc: byTag('desc'), asc: byTag('asc') };

/** Null when the tag is not rare. */
async function findRare(
  db: Queryable,
  shard: number,
  queues: readonly number[],
  walk: LocatedWalk,
): Promise<FoundIds | null> {
  const { criteria, filter, newestFirst, afterId, asOf = null, limit } = walk;
  const unknown = unknownAlong('tag', criteria);
  const [rareMax, wanted] = isKnown(walk, unknown)
    ? [RARE_MAX, limit + 1]
    : [FILTERED_MAX, FILTERED_MAX];
  const range = idRange(criteria, newestFirst, afterId, asOf);
  const values = [shard, queues, ...range, wanted, criteria.tag, rareMax];
  const [tagged] = await db.run(newestFirst ? BY_TAG.desc : BY_TAG.asc, values);
  if (!tagged || tagged.too_many) return null;
  const ids = isKnown(walk, unknown)
    ? tagged.ids
    : await filterJobs(db, shard, tagged.ids, unknown, filter, asOf);
  return ids.length > limit ? firstIds(ids, limit) : { ids, reachedId: null };
}

/** Jobs that were named one by one: only those of the queues. */
const OF_QUEUES = statement<{ id: string }>(
  'jobs_of_queues',
  `select j.id from unnest($2::uuid[]) as wanted(id)
   cross join lateral (
     select id, queue from longshore.job where shard = $1 and id = wanted.id limit 1
   ) j
   where j.queue = any ($3::int[])`,
);

async function findNamed(
  db: Queryable,
  shard: number,
  queues: readonly number[],
  { criteria, filter, newestFirst, afterId, asOf = null, limit }: LocatedWalk,
): Promise<FoundIds> {
  const [low, high] = idRange(criteria, newestFirst, afterId, asOf);
  const named = [...new Set(criteria.jobIds)]
    .filter((id) => shardOfJobId(id) === shard && id >= low && id < high)
    .sort();
  const rows = await db.run(OF_QUEUES, [shard, newestFirst ? named.reverse() : named, queues]);
  const own = new Set(rows.map(({ id }) => id));
  const ordered = named.filter((id) => own.has(id));
  const ids = await filterJobs(db, shard, ordered, criteria, filter, asOf);
  return ids.length > limit ? firstIds(ids, limit) : { ids, reachedId: null };
}
