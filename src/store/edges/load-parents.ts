import type { JobError, TerminalState } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** How a parent ended. */
export interface StoredOutcome {
  id: string;
  state: TerminalState;
  /** As stored, so maybe sealed; null unless it succeeded and is still stored. */
  resultJson: string | null;
  error: JobError | null;
}

const PARENTS_OF = statement<{ id: string; state: TerminalState }>(
  'parents_of_job',
  `select on_id as id, ended as state from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'after' and ended is not null
   order by position`,
);

const OUTCOMES = statement<Omit<StoredOutcome, 'state'>>(
  'outcomes_of_jobs',
  `select f.id, f.result::text as "resultJson", f.error from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select id, result, error from longshore.done where shard = $1 and id = u.id limit 1
   ) f`,
);

/** The outcomes of the parents of a job, in the order of its caller. */
export async function loadParents(
  db: Queryable,
  shard: number,
  id: string,
): Promise<StoredOutcome[]> {
  return await loadOutcomes(db, await endedParents(db, shard, id));
}

export async function endedParents(
  db: Queryable,
  shard: number,
  id: string,
): Promise<{ id: string; state: TerminalState }[]> {
  return await db.run(PARENTS_OF, [shard, id]);
}

/** The outcomes of jobs that have ended, in their order. */
export async function loadOutcomes(
  db: Queryable,
  ended: readonly { id: string; state: TerminalState }[],
): Promise<StoredOutcome[]> {
  const stored = new Map<string, Omit<StoredOutcome, 'state'>>();
  for (const [of, here] of Map.groupBy(ended, (one) => shardOfJobId(one.id))) {
    const ids = here.map((one) => one.id);
    for (const outcome of await db.run(OUTCOMES, [of, ids])) stored.set(outcome.id, outcome);
  }
  const gone = { resultJson: null, error: null };
  return ended.map((one) => ({ ...gone, ...stored.get(one.id), ...one }));
}
