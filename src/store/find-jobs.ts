import { type JobState, OWNED_STATES, TERMINAL_STATES, WAITING_STATES } from '../core/job.ts';
import { type JobCriteria, needsSieve } from '../core/job-criteria.ts';
import { isJobId, jobIdFloor } from '../core/job-id.ts';
import { type Queryable, type Statement, statement } from './db.ts';
import { sieveJobs } from './sieve-jobs.ts';

/**
 * Finding jobs is a walk over ids, which are time-ordered, in whichever table is in id order and
 * narrowest for the question. What no index knows is sieved from what the walk passes by; so that no
 * question can keep the database busy for long, the walk then ends after so many jobs, and says how
 * far it came. Nothing is counted and nothing is skipped by offset: page 10,000 costs what page 1 does.
 */
export interface Walk {
  tenant: string;
  criteria: JobCriteria;
  newestFirst: boolean;
  /** Where the walk before this one ended. */
  afterId: string | null;
  /** How many are wanted. */
  limit: number;
  /** Leaves out what was made, or ended, after this moment. */
  asOf?: string | null;
}

export interface Found {
  ids: string[];
  /** Everything up to this id has been looked at; null when there is nothing after it. */
  reachedId: string | null;
}

/** So many are sieved at a time, and so many at most: beyond that a page would take too long. */
const SIEVE_SIZE = 500;
const SIEVED_MAX = 2_500;

/** Among so many of the nearest jobs a common tag is found at once. */
const NEAREST = 1_000;

export async function findJobs(db: Queryable, shard: number, walk: Walk): Promise<Found> {
  const { criteria, limit, asOf = null } = walk;
  const lanes = await lanesOf(db, shard, walk.tenant, criteria.definitionKey);
  if (lanes.length === 0) return { ids: [], reachedId: null };
  // The index of tags knows no states, so a tag among them is looked for job by job.
  const { tag, statuses } = criteria;
  const sievedTag = statuses.length > 0 ? tag : null;
  if (asOf === null && !needsSieve(criteria) && sievedTag === null) {
    const near = tag === null ? null : await nearestWithTag(db, shard, lanes, walk);
    return near ?? firstOf(await passBy(db, shard, lanes, walk, limit + 1), limit);
  }
  const ids: string[] = [];
  let { afterId } = walk;
  for (let passed = 0; passed < SIEVED_MAX; passed += SIEVE_SIZE) {
    const some = await passBy(db, shard, lanes, { ...walk, afterId }, SIEVE_SIZE);
    ids.push(...(await sieveJobs(db, shard, some, { ...criteria, tag: sievedTag }, asOf)));
    if (ids.length > limit) return firstOf(ids, limit);
    if (some.length < SIEVE_SIZE) return { ids, reachedId: null };
    afterId = some.at(-1) ?? null;
    if (ids.length === limit) break;
  }
  return { ids, reachedId: afterId };
}

/**
 * The index of tags has no order: it finds all jobs with a tag and sorts them. That is quick for a rare
 * tag and slow for a common one, which the walk meets soon. Null: it is not that common.
 */
async function nearestWithTag(
  db: Queryable,
  shard: number,
  lanes: readonly number[],
  walk: Walk,
): Promise<Found | null> {
  const { criteria, limit } = walk;
  const anyTag = { ...walk, criteria: { ...criteria, tag: null } };
  const near = await passBy(db, shard, lanes, anyTag, NEAREST);
  const ids = await sieveJobs(db, shard, near, criteria, null);
  if (ids.length > limit) return firstOf(ids, limit);
  return near.length < NEAREST ? { ids, reachedId: null } : null;
}

function firstOf(ids: readonly string[], limit: number): Found {
  const first = ids.slice(0, limit);
  return { ids: first, reachedId: ids.length > limit ? (first.at(-1) ?? null) : null };
}

type IdStatement = Statement<{ id: string }>;
type Direction = 'desc' | 'asc';

/** Of a definition, or of all of them. The lanes of the system itself are found by name only. */
const LANES = statement<{ lane: number }>(
  'lanes_of',
  `select lane from longshore.lane
   where shard = $1 and tenant = $2 and case when $3::text is null then left(key, 1) <> '$'
     else key = $3 end`,
);

export async function lanesOf(
  db: Queryable,
  shard: number,
  tenant: string,
  definitionKey: string | null,
): Promise<number[]> {
  return (await db.run(LANES, [shard, tenant, definitionKey])).map(({ lane }) => lane);
}

/** Each lane is read in id order from its own index, and the heads are merged. */
const byLane = (direction: Direction): IdStatement =>
  statement(
    `list_by_lane_${direction}`,
    `select j.id from unnest($2::int[]) as l(lane)
     cross join lateral (
       select id from longshore.job
       where shard = $1 and lane = l.lane and id >= $3 and id < $4
       order by id ${direction} limit $5
     ) j
     order by j.id ${direction} limit $5`,
  );

const byTag = (direction: Direction): IdStatement =>
  statement(
    `list_by_tag_${direction}`,
    `select id from longshore.job
     where shard = $1 and lane = any ($2::int[]) and id >= $3 and id < $4
       and tags @> array[$6::text]
     order by id ${direction} limit $5`,
  );

const byState = (table: 'waiting' | 'running' | 'done', direction: Direction): IdStatement =>
  statement(
    `list_${table}_${direction}`,
    `select s.id from longshore.${table} s
     where s.shard = $1 and s.lane = any ($2::int[]) and s.id >= $3 and s.id < $4
       and s.state = any ($6::longshore.job_state[])
     order by s.id ${direction} limit $5`,
  );

/** In one snapshot, in which a job that moves between the two is met in one of them for sure. */
const byOpenState = (direction: Direction): IdStatement => {
  const from = (table: 'waiting' | 'running') =>
    `(select s.id from longshore.${table} s
      where s.shard = $1 and s.lane = any ($2::int[]) and s.id >= $3 and s.id < $4
        and s.state = any ($6::longshore.job_state[])
      order by s.id ${direction} limit $5)`;
  return statement(
    `list_open_${direction}`,
    `select id from (${from('waiting')} union all ${from('running')}) s
     order by id ${direction} limit $5`,
  );
};

/** A rare state has its own small index. */
const bySetback = (direction: Direction): IdStatement =>
  statement(
    `list_setbacks_${direction}`,
    `select s.id from unnest($6::longshore.job_state[]) as wanted(state)
     cross join lateral (
       select f.id from longshore.done f
       where f.shard = $1 and f.state = wanted.state and f.state <> 'succeeded'
         and f.lane = any ($2::int[]) and f.id >= $3 and f.id < $4
       order by f.id ${direction} limit $5
     ) s
     order by s.id ${direction} limit $5`,
  );

const statementsFor = (direction: Direction) => ({
  lane: byLane(direction),
  tag: byTag(direction),
  waiting: byState('waiting', direction),
  running: byState('running', direction),
  open: byOpenState(direction),
  done: byState('done', direction),
  setback: bySetback(direction),
});
const STATEMENTS = { desc: statementsFor('desc'), asc: statementsFor('asc') };

/** The next ids of a walk, in its order. A job that moves meanwhile may be met in two tables. */
async function passBy(
  db: Queryable,
  shard: number,
  lanes: readonly number[],
  { criteria, newestFirst, afterId, asOf }: Walk,
  size: number,
): Promise<string[]> {
  const { statuses, tag } = criteria;
  const statements = newestFirst ? STATEMENTS.desc : STATEMENTS.asc;
  const [low, high] = bounds(criteria, newestFirst, afterId, asOf ?? null);
  const ids = async (using: IdStatement, extra: unknown[]) =>
    (await db.run(using, [shard, lanes, low, high, size, ...extra])).map((row) => row.id);
  if (statuses.length === 0) {
    return tag === null ? await ids(statements.lane, []) : await ids(statements.tag, [tag]);
  }
  const met = new Set<string>();
  for (const [using, states] of plan(statements, statuses)) {
    if (states.length === 0) continue;
    for (const id of await ids(using, [states])) met.add(id);
  }
  const sign = newestFirst ? -1 : 1;
  return [...met].sort((a, b) => (a < b ? -sign : sign)).slice(0, size);
}

/** Which table answers for which of the asked states. */
function plan(
  statements: (typeof STATEMENTS)['desc'],
  statuses: readonly JobState[],
): [IdStatement, JobState[]][] {
  const among = (states: readonly JobState[]) => statuses.filter((state) => states.includes(state));
  const waiting = among(WAITING_STATES);
  const owned = among(OWNED_STATES);
  const ended = among(TERMINAL_STATES);
  const open = waiting.length > 0 && owned.length > 0;
  return [
    [statements.open, open ? [...waiting, ...owned] : []],
    [statements.waiting, open ? [] : waiting],
    [statements.running, open ? [] : owned],
    [statements.setback, ended.includes('succeeded') ? [] : ended],
    [statements.done, ended.includes('succeeded') ? ended : []],
  ];
}

export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A process whose clock is ahead makes ids of a moment that is yet to come, by so much at most. */
const CLOCK_SLACK_MS = 24 * 3_600_000;

/** The half-open range of ids that the times and the place in the walk leave. */
function bounds(
  { createdAfter, createdBefore }: JobCriteria,
  newestFirst: boolean,
  afterId: string | null,
  asOf: string | null,
): [low: string, high: string] {
  let low = createdAfter ? jobIdFloor(createdAfter.getTime()) : FIRST_ID;
  let high = createdBefore ? jobIdFloor(createdBefore.getTime()) : LAST_ID;
  const newest = asOf ? jobIdFloor(Date.parse(asOf) + CLOCK_SLACK_MS) : LAST_ID;
  if (newest < high) high = newest;
  const after = afterId !== null && isJobId(afterId) ? afterId : null;
  if (after && newestFirst && after < high) high = after;
  if (after && !newestFirst && after >= low) low = successor(after);
  return [low, high];
}

function successor(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
