import { type Queryable, statement } from '../connection/db.ts';

/** What a log line says about a job besides its id. */
export interface RunningFacts {
  definition: string;
  tenant: string;
  traceparent: string | null;
}

const FACTS = statement<RunningFacts>(
  'running_facts',
  `select l.key as definition, l.tenant, j.traceparent
   from longshore.running r
   join longshore.queue l on l.shard = $1 and l.queue = r.queue
   left join longshore.job j on j.shard = $1 and j.id = r.id
   where r.shard = $1 and r.id = $2`,
);

/**
 * Only the log needs these, and rarely, so a heartbeat does not read them. Null when no worker holds the
 * job any more.
 */
export async function runningFacts(
  db: Queryable,
  shard: number,
  id: string,
): Promise<RunningFacts | null> {
  return (await db.run(FACTS, [shard, id]))[0] ?? null;
}
