import type { TerminalState } from '../../core/job/job.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { loadOutcomes, type StoredOutcome } from './load-outcomes.ts';

const PARENTS_OF = statement<{ id: string; state: TerminalState }>(
  'parents_of_job',
  `select on_id as id, ended as state from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'after' and ended is not null
   order by position`,
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
