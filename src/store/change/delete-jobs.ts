import { isTerminal, type TerminalState, TERMINAL_STATES } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Actor, audited } from '../access/audit.ts';
import type { ChangeResult } from '../../core/job/change-result.ts';
import { changeJob } from './change-job.ts';
import { changeableQueue } from '../limits/changeable-queue.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { atCtids, filterOnly, ONCE_PER_ROW, ctidOf } from '../connection/planner.ts';
import { moves, counters } from '../counters/counter-moves.ts';

/** Finds the rows of a table that belong to the jobs, and deletes them. */
const forget = (table: string, column: string) => `
  ${table}_at as materialized (
    select x.row_ctid from over o cross join lateral (
      select ${ctidOf('x', column)} as row_ctid from longshore.${table} x
      where x.shard = $1 and x.${column} = o.id ${ONCE_PER_ROW}
    ) x
  ),
  ${table}_gone as (
    delete from longshore.${table}
    where ${atCtids(`select row_ctid from ${table}_at`, '', column)}
      and ${filterOnly(`shard = $1 and ${column} = any (array(select id from over))`)}
  )`;

/**
 * Deletes ended jobs with their whole history. Of two concurrent changes of a job, the one that
 * locks the row in `done` wins, as in `store/change/retry-jobs.ts`. The idempotency key is free
 * from then on: the next request finds that its holder is gone.
 */
const DELETE = statement<{ id: string; state: TerminalState }>(
  'delete_jobs',
  `with over as materialized (
    select f.shard, f.id, f.queue, f.state, f.row_ctid
    from unnest($2::uuid[]) as wanted(id) cross join lateral (
      select f.*, ${ctidOf('f', 'id')} as row_ctid from longshore.done f
      where f.shard = $1 and f.id = wanted.id and f.state = any ($4::longshore.job_state[])
        and f.finished_at <= coalesce($5::timestamptz, 'infinity')
        and ${changeableQueue('f.queue')}
      limit 1 for update
    ) f
  ),
  marked as (insert into longshore.revived select shard, id from over),
  ${counters(moves('state', 'null', 'over'))},
  outcome as (
    delete from longshore.done
    where ${atCtids('select row_ctid from over', '', 'id')}
      and ${filterOnly('shard = $1 and id = any (array(select id from over))')}
  ),
  ${[forget('job', 'id'), ...['attempt', 'event', 'log_chunk', 'step', 'stream_chunk', 'edge'].map((table) => forget(table, 'job_id'))].join(',')}
  select id, state from over`,
);

export interface DeleteScope {
  tenant: string;
  states: readonly TerminalState[];
  endedBefore: string | null;
}

/** Deletes the jobs that may be deleted, in one statement, and returns them. */
export async function deleteJobs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
  { tenant, states, endedBefore }: DeleteScope,
): Promise<{ id: string; state: TerminalState }[]> {
  if (ids.length === 0) return [];
  return await db.run(DELETE, [shard, ids.toSorted(), tenant, states, endedBefore]);
}

/** `changed` contains the state in which the job had ended. */
export async function deleteJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  by: Actor | null = null,
): Promise<ChangeResult> {
  const scope = { tenant, states: TERMINAL_STATES, endedBefore: null };
  const move = async (tx: Queryable) =>
    (await deleteJobs(tx, shardOfJobId(jobId), [jobId], scope))[0];
  const remove = async () => {
    const gone = await audited(db, by, move, (row) =>
      row ? { tenant, action: 'job.delete', subject: jobId, before: { status: row.state } } : null,
    );
    return gone?.state ?? null;
  };
  return await changeJob(db, tenant, jobId, remove, (state) => !isTerminal(state));
}
