import {
  type JobState,
  type JobView,
  OWNED_STATES,
  TERMINAL_STATES,
  WAITING_STATES,
} from '../core/job.ts';
import { isJobId, jobIdFloor } from '../core/job-id.ts';
import { type Db, type Queryable, type Statement, statement } from './db.ts';
import { viewJobs } from './get-job.ts';

/**
 * Listing is keyset paging over ids, which are time-ordered. First the ids of the page are found in
 * whichever table is in id order and narrowest for the question; then they are looked up like any
 * other job. Nothing is counted and nothing is skipped by offset, so page 10,000 costs what page 1
 * does.
 */

export interface JobFilter {
  tenant: string;
  statuses: readonly JobState[];
  definitionKey: string | null;
  tag: string | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
  newestFirst: boolean;
  /** The last id of the page before. */
  afterId: string | null;
  limit: number;
  unhandledAfterMs?: number | undefined;
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
       and s.state = any ($7::longshore.job_state[])
       and ($6::text is null or (
         select tags @> array[$6] from longshore.job j where j.shard = $1 and j.id = s.id))
     order by s.id ${direction} limit $5`,
  );

/** A rare state has its own small index. */
const bySetback = (direction: Direction): IdStatement =>
  statement(
    `list_setbacks_${direction}`,
    `select s.id from unnest($7::longshore.job_state[]) as wanted(state)
     cross join lateral (
       select f.id from longshore.done f
       where f.shard = $1 and f.state = wanted.state and f.state <> 'succeeded'
         and f.lane = any ($2::int[]) and f.id >= $3 and f.id < $4
         and ($6::text is null or (
           select tags @> array[$6] from longshore.job j where j.shard = $1 and j.id = f.id))
       order by f.id ${direction} limit $5
     ) s
     order by s.id ${direction} limit $5`,
  );

const statementsFor = (direction: Direction) => ({
  lane: byLane(direction),
  tag: byTag(direction),
  waiting: byState('waiting', direction),
  running: byState('running', direction),
  done: byState('done', direction),
  setback: bySetback(direction),
});
const STATEMENTS = { desc: statementsFor('desc'), asc: statementsFor('asc') };

export async function listJobs(
  db: Db,
  filter: JobFilter,
): Promise<{ jobs: JobView[]; nextId: string | null }> {
  // By id, since a job that moves while its tables are read one after another is found twice.
  const byId = new Map<string, { id: string; shard: number }>();
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const id of await findIds(db, shard, filter)) byId.set(id, { id, shard });
  }
  const found = [...byId.values()];
  const sign = filter.newestFirst ? -1 : 1;
  found.sort((a, b) => (a.id < b.id ? -sign : sign));
  const page = found.slice(0, filter.limit);
  const views = new Map<string, JobView>();
  for (const shard of new Set(page.map((row) => row.shard))) {
    const ids = page.filter((row) => row.shard === shard).map((row) => row.id);
    const found = await viewJobs(db, shard, filter.tenant, ids, filter.unhandledAfterMs);
    for (const view of found) views.set(view.jobId, view);
  }
  // A job may have moved on between finding and looking; it is shown as it is now, if it still fits.
  const jobs = page.flatMap(({ id }) => {
    const view = views.get(id);
    const fits = view && (filter.statuses.length === 0 || filter.statuses.includes(view.status));
    return fits ? [view] : [];
  });
  const more = found.length > filter.limit;
  return { jobs, nextId: more ? (page.at(-1)?.id ?? null) : null };
}

async function findIds(db: Queryable, shard: number, filter: JobFilter): Promise<string[]> {
  const lanes = await db.run(LANES, [shard, filter.tenant, filter.definitionKey]);
  if (lanes.length === 0) return [];
  const { desc, asc } = STATEMENTS;
  const statements = filter.newestFirst ? desc : asc;
  const [low, high] = bounds(filter);
  const range = [shard, lanes.map((row) => row.lane), low, high, filter.limit + 1];
  const ids = async (using: IdStatement, extra: unknown[]) =>
    (await db.run(using, [...range, ...extra])).map((row) => row.id);
  if (filter.statuses.length === 0) {
    return filter.tag === null
      ? await ids(statements.lane, [])
      : await ids(statements.tag, [filter.tag]);
  }
  const result: string[] = [];
  for (const [using, states] of plan(statements, filter.statuses)) {
    if (states.length > 0) result.push(...(await ids(using, [filter.tag, states])));
  }
  return result;
}

/** Which table answers for which of the asked states. */
function plan(
  statements: (typeof STATEMENTS)['desc'],
  statuses: readonly JobState[],
): [IdStatement, JobState[]][] {
  const among = (states: readonly JobState[]) => statuses.filter((state) => states.includes(state));
  const ended = among(TERMINAL_STATES);
  return [
    [statements.waiting, among(WAITING_STATES)],
    [statements.running, among(OWNED_STATES)],
    [statements.setback, ended.includes('succeeded') ? [] : ended],
    [statements.done, ended.includes('succeeded') ? ended : []],
  ];
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The half-open range of ids that the time filter and the cursor leave. */
function bounds(filter: JobFilter): [low: string, high: string] {
  let low = filter.createdAfter ? jobIdFloor(filter.createdAfter.getTime()) : FIRST_ID;
  let high = filter.createdBefore ? jobIdFloor(filter.createdBefore.getTime()) : LAST_ID;
  const after = filter.afterId !== null && isJobId(filter.afterId) ? filter.afterId : null;
  if (after && filter.newestFirst && after < high) high = after;
  if (after && !filter.newestFirst && after >= low) low = successor(after);
  return [low, high];
}

function successor(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
