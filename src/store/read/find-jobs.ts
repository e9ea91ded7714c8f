import { type JobCriteria, needsSieve } from '../../core/job/job-criteria.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { idRange } from '../connection/id-range.ts';
import { SIEVE_SIZE, SIEVED_MAX, sieveJobs } from './sieve-jobs.ts';
import { type Found, type Path, type Stretch, walkJobs } from './walk-jobs.ts';

/**
 * Finding jobs is a walk over ids, which are time-ordered, along whichever path is shortest for the
 * question (walk-jobs.ts). What the path does not know is sieved from what the walk passes by. So that no
 * question can keep the database busy for long, every walk ends after so many jobs, and says how far it
 * came. Nothing is counted and nothing is skipped by offset: page 10,000 costs what page 1 does.
 *
 * Which path is short depends on what is there, and nobody knows that before: a definition with ten
 * queued jobs is found at once in a short line, but not behind a million of others; along its own jobs it
 * is the other way round. So the likely one is tried, and where it ends without an answer the other.
 */
export interface Walk extends Stretch {
  tenant: string;
  /** How many are wanted. `asOf` leaves out what was made, or ended, after that moment. */
  limit: number;
}

/** A tag that more jobs have than this is not rare; they are not fetched one by one. */
const RARE_MAX = 5_000;

export async function findJobs(db: Queryable, shard: number, walk: Walk): Promise<Found> {
  const { tenant, criteria, limit } = walk;
  const queues = await queuesOf(db, shard, tenant, criteria.definitionKey);
  if (queues.length === 0) return { ids: [], reachedId: null };
  const path = likelyPath(criteria);
  const found = await findAlong(db, shard, queues, path, walk);
  if (found.ids.length >= limit || found.reachedId === null) return found;
  const rare = criteria.tag === null ? null : await findRare(db, shard, queues, walk);
  if (rare || !found.isSparse) return rare ?? found;
  return farther(found, await findAlong(db, shard, queues, 'queues', walk), walk.newestFirst);
}

function likelyPath({ statuses, tag, errorCode, fingerprint }: JobCriteria): Path {
  if (errorCode !== null || fingerprint !== null) return 'errors';
  if (statuses.length > 0) return 'states';
  return tag === null ? 'queues' : 'tag';
}

/** What is left to ask of each job on the way. */
function unknownAlong(path: Path, criteria: JobCriteria): JobCriteria {
  return {
    ...criteria,
    statuses: path === 'states' ? [] : criteria.statuses,
    tag: path === 'tag' ? null : criteria.tag,
  };
}

function isKnown({ asOf = null }: Walk, unknown: JobCriteria): boolean {
  const { statuses, tag } = unknown;
  return asOf === null && !needsSieve(unknown) && tag === null && statuses.length === 0;
}

/** Sparse: the walk has passed so much of what is not asked for that it gave up. */
async function findAlong(
  db: Queryable,
  shard: number,
  queues: readonly number[],
  path: Path,
  walk: Walk,
): Promise<Found & { isSparse?: boolean }> {
  const { criteria, limit, asOf = null } = walk;
  const unknown = unknownAlong(path, criteria);
  if (isKnown(walk, unknown)) {
    const found = await walkJobs(db, shard, queues, path, walk, limit + 1);
    return found.ids.length > limit ? firstIds(found.ids, limit) : { ...found, isSparse: true };
  }
  const ids: string[] = [];
  let { afterId } = walk;
  for (let passed = 0; passed < SIEVED_MAX; passed += SIEVE_SIZE) {
    const some = await walkJobs(db, shard, queues, path, { ...walk, afterId }, SIEVE_SIZE);
    ids.push(...(await sieveJobs(db, shard, some.ids, unknown, asOf)));
    if (ids.length > limit) return firstIds(ids, limit);
    afterId = some.reachedId;
    if (some.ids.length < SIEVE_SIZE) return { ids, reachedId: afterId, isSparse: true };
    if (afterId === null || ids.length === limit) break;
  }
  return { ids, reachedId: afterId };
}

function firstIds(ids: readonly string[], size: number): Found {
  const first = ids.slice(0, size);
  return { ids: first, reachedId: first.at(-1) ?? null };
}

/** Both are right as far as they come. */
function farther(one: Found, other: Found, newestFirst: boolean): Found {
  if (one.reachedId === null || other.reachedId === null) {
    return one.reachedId === null ? one : other;
  }
  return one.reachedId < other.reachedId === newestFirst ? one : other;
}

/**
 * The index of tags has no order, and knows no queues: it says at once where all jobs with a tag are. The
 * shard is compared in a way that no other index understands, or the limit would tempt the planner to walk
 * through the table until it has met so many.
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

/** Null: it is not rare. */
async function findRare(
  db: Queryable,
  shard: number,
  queues: readonly number[],
  walk: Walk,
): Promise<Found | null> {
  const { criteria, newestFirst, afterId, asOf = null, limit } = walk;
  const unknown = unknownAlong('tag', criteria);
  const [rareMax, wanted] = isKnown(walk, unknown)
    ? [RARE_MAX, limit + 1]
    : [SIEVED_MAX, SIEVED_MAX];
  const range = idRange(criteria, newestFirst, afterId, asOf);
  const values = [shard, queues, ...range, wanted, criteria.tag, rareMax];
  const [tagged] = await db.run(newestFirst ? BY_TAG.desc : BY_TAG.asc, values);
  if (!tagged || tagged.too_many) return null;
  const ids = isKnown(walk, unknown)
    ? tagged.ids
    : await sieveJobs(db, shard, tagged.ids, unknown, asOf);
  return ids.length > limit ? firstIds(ids, limit) : { ids, reachedId: null };
}

/** Of a definition, or of all of them. The queues of the system itself are found by name only. */
const QUEUES = statement<{ queue: number }>(
  'queues_of',
  `select queue from longshore.queue
   where shard = $1 and tenant = $2 and case when $3::text is null then left(key, 1) <> '$'
     else key = $3 end`,
);

export async function queuesOf(
  db: Queryable,
  shard: number,
  tenant: string,
  definitionKey: string | null,
): Promise<number[]> {
  return (await db.run(QUEUES, [shard, tenant, definitionKey])).map(({ queue }) => queue);
}
