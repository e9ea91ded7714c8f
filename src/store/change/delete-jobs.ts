import { isTerminal, type TerminalState, TERMINAL_STATES } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Actor, audited } from '../access/audit.ts';
import type { ChangeResult } from '../../core/job/change-result.ts';
import { changeJob } from './change-job.ts';
import { changeableQueue } from '../limits/changeable-queue.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { atPlaces, filterOnly, ONCE_PER_ROW, placeOf } from '../connection/planner.ts';
import { moves, counters } from '../counters/counter-moves.ts';

/** Finds the rows of a table that belong to the jobs, and deletes them. */
const forget = (table: string, column: string) => `
  ${table}_at as materialized (
    select x.place from over o cross join lateral (
      select ${placeOf('x')} as place from longshore.${table} x
      where x.shard = $1 and x.${column} = o.id ${ONCE_PER_ROW}
    ) x
  ),
  ${table}_gone as (
    delete from longshore.${table}
    where ${atPlaces(`select place from ${table}_at`)}
      and ${filterOnly(`shard = $1 and ${column} = any (array(select id from over))`)}
  )`;

/**
 * Deletes jobs that have ended, with all that is known of them. The row in `done` is what two who
 * want the same job fight for, as in `store/change/retry-jobs.ts`. The key of an idempotent job is free
 * from then on: the next request for it finds that its holder is gone.
 */
const DELETE = statement<{ id: string; state: TerminalState }>(
  'delete_jobs',
  `with over as materialized (
    select f.shard, f.id, f.queue, f.state, f.place
    from unnest($2::uuid[]) as wanted(id) cross join lateral (
      select f.*, ${placeOf('f')} as place from longshore.done f
      where f.shard = $1 and f.id = wanted.id and f.state = any ($4::longshore.job_state[])
        and f.finished_at <= coalesce($5::timestamptz, 'infinity')
        and ${changeableQueue('f.queue')}
      limit 1 for update
    ) f
  ),
  told as (insert into longshore.revived select shard, id from over),
  ${counters(moves('state', 'null', 'over'))},
  outcome as (
    delete from longshore.done
    where ${atPlaces('select place from over')}
      and ${filterOnly('shard = $1 and id = any (array(select id from over))')}
  ),
  ${[forget('job', 'id'), ...['attempt', 'event', 'log_chunk', 'step'].map((table) => forget(table, 'job_id'))].join(',')}
  select id, state from over`,
);

export interface DeleteScope {
  tenant: string;
  states: readonly TerminalState[];
  endedBefore: string | null;
}

/** Deletes those of the jobs that it may, in one statement, and answers with these. */
export async function deleteJobs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
  { tenant, states, endedBefore }: DeleteScope,
): Promise<{ id: string; state: TerminalState }[]> {
  if (ids.length === 0) return [];
  return await db.run(DELETE, [shard, ids.toSorted(), tenant, states, endedBefore]);
}

/** `changed` tells the state that it ended in. */
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
