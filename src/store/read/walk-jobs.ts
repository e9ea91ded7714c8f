import {
  type JobState,
  OWNED_STATES,
  TERMINAL_STATES,
  WAITING_STATES,
} from '../../core/job/job.ts';
import type { JobCriteria } from '../../core/job/job-criteria.ts';
import { type Queryable, type Statement, statement } from '../connection/db.ts';
import { idRange } from '../connection/id-range.ts';
import { mergeWalks, walkOf } from './walk.ts';

/**
 * Bounded walks over jobs in the order of their ids. Each returns after a limited number of rows,
 * whether or not any of them matches:
 *
 * - along `queues`: the jobs of some definitions, in any state;
 * - along `states`: the table that holds jobs of that state, past the jobs of other queues;
 * - along all jobs, past those without a `tag`;
 * - along `errors`: failed jobs by error code, and waiting jobs that were claimed before.
 *
 * Jobs that are rare on one path can be frequent on another; `find-jobs.ts` chooses.
 */
export type Path = 'queues' | 'states' | 'tag' | 'errors';

export interface FoundIds {
  ids: string[];
  /** Everything up to this id was read; null when nothing follows. */
  reachedId: string | null;
}

/** The part of a walk that remains. */
export interface WalkRange {
  criteria: JobCriteria;
  newestFirst: boolean;
  /** Where the previous walk ended. */
  afterId: string | null;
  asOf?: string | null;
}

/** Maximum number of rows read: a third of a microsecond each, where they are adjacent. */
const PASSED_MAX = 20_000;

type Direction = 'desc' | 'asc';
type IdStatement = Statement<{ id: string; fits: boolean }>;

/** Each queue is read in id order from its own index, and the results are merged. */
const byQueue = (direction: Direction): IdStatement =>
  statement(
    `list_by_queue_${direction}`,
    `select j.id, true as fits from unnest($2::int[]) as l(queue)
     cross join lateral (
       select id from longshore.job
       where shard = $1 and queue = l.queue and id >= $3 and id < $4
       order by id ${direction} limit $5
     ) j
     order by j.id ${direction} limit $5`,
  );

/** Failed and cancelled jobs have an index by queue and state. */
const byUnsuccessful = (direction: Direction): IdStatement =>
  statement(
    `list_unsuccessful_${direction}`,
    `select s.id, true as fits from unnest($2::int[]) as l(queue)
     cross join unnest($6::longshore.job_state[]) as wanted(state)
     cross join lateral (
       select f.id from longshore.done f
       where f.shard = $1 and f.queue = l.queue and f.state = wanted.state
         and f.state <> 'succeeded' and f.id >= $3 and f.id < $4
       order by f.id ${direction} limit $5
     ) s
     order by s.id ${direction} limit $5`,
  );

/** Jobs that ended with a code have an index by queue and code. */
const byCode = (direction: Direction): IdStatement =>
  statement(
    `list_by_code_${direction}`,
    `select s.id, true as fits from unnest($2::int[]) as l(queue)
     cross join lateral (
       select f.id from longshore.done f
       where f.shard = $1 and f.queue = l.queue and f.error_code = $6::text
         and f.id >= $3 and f.id < $4
       order by f.id ${direction} limit $5
     ) s
     order by s.id ${direction} limit $5`,
  );

/** Waiting jobs that were claimed before; only these can have failed. */
const byTried = (direction: Direction): IdStatement =>
  statement(
    `list_tried_${direction}`,
    `select s.id, true as fits from unnest($2::int[]) as l(queue)
     cross join lateral (
       select w.id from longshore.waiting w
       where w.shard = $1 and w.queue = l.queue and w.claim_no > 0 and w.id >= $3 and w.id < $4
       order by w.id ${direction} limit $5
     ) s
     order by s.id ${direction} limit $5`,
  );

/**
 * The matching rows among the next $7 in id order. Both CTEs are read only as far as needed: where
 * many rows match, few are read. When too few match, the last row that was read is returned as
 * well; the next walk starts there.
 */
const past = (name: string, direction: Direction, rows: string, fits: string): IdStatement =>
  statement(
    `list_${name}_${direction}`,
    `with passed as materialized (
       select * from ${rows} s where s.shard = $1 and s.id >= $3 and s.id < $4
       order by s.id ${direction} limit $7
     ),
     fitting as materialized (
       select id from passed where queue = any ($2::int[]) and ${fits} limit $5
     )
     select id, true as fits from fitting
     union all
     (select id, false from passed where (select count(*) from fitting) < $5 offset $7 - 1)`,
  );

const IN_STATE = 'state = any ($6::longshore.job_state[])';
const rowsOf = (table: string, column: string) =>
  `(select shard, id, queue, ${column} from longshore.${table})`;
/** One snapshot: a job that moves between the two tables is in exactly one of them. */
const OPEN = `(select shard, id, queue, state from longshore.waiting
  union all select shard, id, queue, state from longshore.running)`;

const statementsFor = (direction: Direction) => ({
  queue: byQueue(direction),
  unsuccessful: byUnsuccessful(direction),
  code: byCode(direction),
  tried: byTried(direction),
  waiting: past('waiting', direction, rowsOf('waiting', 'state'), IN_STATE),
  running: past('running', direction, rowsOf('running', 'state'), IN_STATE),
  open: past('open', direction, OPEN, IN_STATE),
  done: past('done', direction, rowsOf('done', 'state'), IN_STATE),
  tag: past('past_tag', direction, rowsOf('job', 'tags'), 'tags @> array[$6::text]'),
});
const STATEMENTS = { desc: statementsFor('desc'), asc: statementsFor('asc') };
type Statements = (typeof STATEMENTS)['desc'];

/** The next ids along a path, `size` at most. */
export async function walkJobs(
  db: Queryable,
  shard: number,
  queues: readonly number[],
  path: Path,
  { criteria, newestFirst, afterId, asOf = null }: WalkRange,
  size: number,
): Promise<FoundIds> {
  const statements = newestFirst ? STATEMENTS.desc : STATEMENTS.asc;
  const range = idRange(criteria, newestFirst, afterId, asOf);
  const go = async (using: IdStatement, extra: unknown[]): Promise<FoundIds> => {
    const rows = await db.run(using, [shard, queues, ...range, size, ...extra]);
    const { entries, reached } = walkOf(rows, size);
    return { ids: entries.map(({ id }) => id), reachedId: reached?.id ?? null };
  };
  if (path === 'queues') return await go(statements.queue, []);
  if (path === 'tag') return await go(statements.tag, [criteria.tag, PASSED_MAX]);
  const found: FoundIds[] = [];
  if (path === 'errors') {
    for (const [using, extra] of errorsOf(statements, criteria)) found.push(await go(using, extra));
    return mergeFound(found, newestFirst, size);
  }
  for (const [using, states] of tablesOf(statements, criteria.statuses)) {
    if (states.length === 0) continue;
    const bound = using === statements.unsuccessful ? [] : [PASSED_MAX];
    found.push(await go(using, [states, ...bound]));
  }
  return mergeFound(found, newestFirst, size);
}

const FAILED_STATES = ['failed', 'cancelled'] as const;

/** The statements that find jobs with an error in the requested states. */
function errorsOf(
  statements: Statements,
  { statuses, errorCode }: JobCriteria,
): [IdStatement, unknown[]][] {
  const isAsked = (states: readonly JobState[]) =>
    statuses.length === 0 || statuses.some((state) => states.includes(state));
  const ended: [IdStatement, unknown[]] =
    errorCode === null
      ? [statements.unsuccessful, [FAILED_STATES]]
      : [statements.code, [errorCode]];
  return [
    ...(isAsked(TERMINAL_STATES) ? [ended] : []),
    ...(isAsked(WAITING_STATES) ? [[statements.tried, []] as [IdStatement, unknown[]]] : []),
  ];
}

/** The statements that find jobs in the requested states. */
function tablesOf(
  statements: Statements,
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
    [statements.unsuccessful, ended.includes('succeeded') ? [] : ended],
    [statements.done, ended.includes('succeeded') ? ended : []],
  ];
}

/** Merges walks along several tables or shards. */
export function mergeFound(
  found: readonly FoundIds[],
  newestFirst: boolean,
  size: number,
): FoundIds {
  const sign = newestFirst ? -1 : 1;
  const inOrder = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0);
  const walks = found.map(({ ids, reachedId }) => ({ entries: ids, reached: reachedId }));
  const { entries, reached } = mergeWalks<string, string>(walks, inOrder, size);
  return { ids: entries, reachedId: reached };
}
