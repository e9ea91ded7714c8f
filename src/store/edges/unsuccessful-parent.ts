import { type Queryable, statement } from '../connection/db.ts';

/** A query for a parent without whose success the job must not run. $1 is the shard. */
export const unsuccessfulParent = (id: string) => `
  select e.on_id as id from longshore.edge e
  where e.shard = $1 and e.job_id = ${id} and e.kind = 'after' and e.ended <> 'succeeded'
    and e.on_failure <> 'run'
  order by e.position limit 1`;

const FIND = statement<{ id: string }>(
  'find_unsuccessful_parent',
  `select p.id from longshore.job j
   cross join lateral (${unsuccessfulParent('j.id')}) p
   where j.shard = $1 and j.id = $2
     and (select tenant from longshore.queue q where q.shard = $1 and q.queue = j.queue) = $3`,
);

/** Null when there is none. */
export async function findUnsuccessfulParent(
  tx: Queryable,
  shard: number,
  jobId: string,
  tenant: string,
): Promise<string | null> {
  return (await tx.run(FIND, [shard, jobId, tenant]))[0]?.id ?? null;
}
