import type { After } from '../../core/dependency/dependency.ts';
import { isTerminal, type JobState, type TerminalState } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * Stores that new jobs wait for others, in the transaction that stores the jobs.
 *
 * A parent may end at the same moment. So its row is marked as watched first: the short statement that
 * settles plain successes then leaves it to `settle`, which tells the resolver. A row that has the mark
 * is locked, so that its end comes after this commit, when the resolver sees the edge. A parent that has
 * ended gets a row for the resolver here.
 */

/** A parent that there is not, or not for this tenant. */
export class ParentUnknown extends Error {
  override name = 'ParentUnknown';
  /** The index of the new job, and that of the parent in its list. */
  readonly index: number;
  readonly position: number;

  constructor(index: number, position: number, id: string) {
    super(`there is no job ${id}`);
    this.index = index;
    this.position = position;
  }
}

/** A new job that waits. */
export interface Follower {
  /** The index of the request. */
  index: number;
  id: string;
  tenant: string;
  after: After;
}

/**
 * The row of a queued job is replaced, not changed. A claim that began before reads the row at its old
 * position, locks the changed one, and would delete nothing at a position that it cannot see yet; a row
 * that is gone is skipped, and the next claim takes the job. The rows of other jobs are changed: the
 * resolver and signals, which move a job on only once, must not skip them.
 */
const MARK_WAITING = statement<{ state: JobState }>(
  'watch_waiting',
  `with gone as (
     delete from longshore.waiting p
     where p.shard = $1 and p.id = $2 and p.watched is null and p.state = 'queued'
     returning p.*
   ),
   replaced as (
     insert into longshore.waiting
      (shard, id, queue, state, rank, seq, blocked, run_at, expires_at, attempts,
       max_attempts, claim_no, interruptions, queued_at, key_limiter, has_permit, fails_unserved,
       waits_for, watched)
     select shard, id, queue, state, rank, seq, blocked, run_at, expires_at, attempts,
       max_attempts, claim_no, interruptions, queued_at, key_limiter, has_permit, fails_unserved,
       waits_for, true
     from gone
     returning state
   ),
   marked as (
     update longshore.waiting p set watched = true
     where p.shard = $1 and p.id = $2 and p.watched is null and p.state <> 'queued'
     returning p.state
   ),
   locked as materialized (
     select p.state from longshore.waiting p
     where p.shard = $1 and p.id = $2 and p.watched for share
   )
   select state from replaced union all select state from marked union all select state from locked`,
);

/** Marks or locks a parent that runs. */
const MARK_RUNNING = statement<{ state: JobState }>(
  'watch_running',
  `with marked as (
     update longshore.running p set watched = true
     where p.shard = $1 and p.id = $2 and p.watched is null
     returning p.state
   ),
   locked as materialized (
     select p.state from longshore.running p
     where p.shard = $1 and p.id = $2 and p.watched for share
   )
   select state from marked union all select state from locked`,
);

/** The lock keeps a retry by hand until this commit, so that it sees the new edge. */
const LOCK_DONE = statement<{ state: JobState }>(
  'watch_done',
  'select state from longshore.done where shard = $1 and id = $2 for share',
);

const OWNERS = statement<{ id: string; tenant: string }>(
  'owners_of_jobs',
  `select j.id, q.tenant from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select id, queue from longshore.job where shard = $1 and id = u.id limit 1
   ) j
   cross join lateral (
     select tenant from longshore.queue where shard = $1 and queue = j.queue limit 1
   ) q`,
);

/** A parent may move from table to table while it is looked for. */
const TRIES = 10;

/** The parents that are not there have no state. */
export type Parents = ReadonlyMap<string, JobState>;

/** Returns the state of each parent that there is for the tenant of its follower. */
export async function watchParents(
  tx: Queryable,
  followers: readonly Follower[],
): Promise<Parents> {
  const ids = [...new Set(followers.flatMap(({ after }) => after.jobs))].sort();
  const owners = new Map<string, string>();
  for (const [shard, here] of Map.groupBy(ids, shardOfJobId)) {
    for (const { id, tenant } of await tx.run(OWNERS, [shard, here])) owners.set(id, tenant);
  }
  // All jobs of one request are of one tenant.
  const own = new Set(followers.map(({ tenant }) => tenant));
  const states = new Map<string, JobState>();
  for (const id of ids.filter((one) => own.has(owners.get(one) ?? ''))) {
    const state = await watchParent(tx, id);
    if (state !== null) states.set(id, state);
  }
  return states;
}

/** Locks a job that others wait for, so that its end comes after this commit. Null when there is none. */
export async function watchParent(tx: Queryable, id: string): Promise<JobState | null> {
  const values = [shardOfJobId(id), id];
  for (let tries = 0; tries < TRIES; tries += 1) {
    for (const look of [MARK_WAITING, MARK_RUNNING, LOCK_DONE]) {
      const [found] = await tx.run(look, values);
      if (found) return found.state;
    }
  }
  return null;
}

const ADD_EDGES = statement<{ id: string }>(
  'add_edges',
  `insert into longshore.edge (shard, job_id, kind, position, on_shard, on_id, on_failure)
   select $1, e.id, 'after', e.position, e.on_shard, e.on_id, e.on_failure
   from json_to_recordset($2::json) as e(
     id uuid, position int, on_shard smallint, on_id uuid, on_failure text)
   returning job_id as id`,
);

const TELL = statement<{ id: string }>(
  'tell_ended',
  `insert into longshore.ended_watched (shard, id, state)
   select $1, t.id, t.state
   from json_to_recordset($2::json) as t(id uuid, state longshore.job_state)
   returning id`,
);

/**
 * For jobs that were stored now. Throws `ParentUnknown`; a repeated request, whose job exists, may name
 * parents that are deleted by now.
 */
export async function addEdges(
  tx: Queryable,
  followers: readonly Follower[],
  parents: Parents,
): Promise<void> {
  for (const { index, after } of followers) {
    const position = after.jobs.findIndex((id) => !parents.has(id));
    if (position >= 0) throw new ParentUnknown(index, position, after.jobs[position] ?? '');
  }
  for (const [shard, here] of Map.groupBy(followers, ({ id }) => shardOfJobId(id))) {
    const edges = here.flatMap(({ id, after }) =>
      after.jobs.map((on, position) => {
        const of = { id, position, on_shard: shardOfJobId(on), on_id: on };
        return { ...of, on_failure: after.onFailure };
      }),
    );
    await tx.run(ADD_EDGES, [shard, JSON.stringify(edges)]);
  }
  const wanted = new Set(followers.flatMap(({ after }) => after.jobs));
  const ended = [...parents].flatMap(([id, state]) =>
    wanted.has(id) && isTerminal(state) ? [{ id, state }] : [],
  );
  for (const [shard, here] of Map.groupBy(ended, ({ id }) => shardOfJobId(id))) {
    await tellEnded(tx, shard, here);
  }
}

/** For jobs that began to wait for these after their end. */
export async function tellEnded(
  tx: Queryable,
  shard: number,
  ended: readonly { id: string; state: TerminalState }[],
): Promise<void> {
  await tx.run(TELL, [shard, JSON.stringify(ended)]);
}
