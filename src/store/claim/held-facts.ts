import { type Queryable, statement } from '../connection/db.ts';

/** What a line in the log says of a job besides its id. */
export interface HeldFacts {
  definition: string;
  tenant: string;
  traceparent: string | null;
}

const FACTS = statement<HeldFacts>(
  'held_facts',
  `select l.key as definition, l.tenant, j.traceparent
   from longshore.running r
   join longshore.queue l on l.shard = $1 and l.queue = r.queue
   left join longshore.job j on j.shard = $1 and j.id = r.id
   where r.shard = $1 and r.id = $2`,
);

/**
 * A heartbeat does not bring these along, as they are for the log alone and hardly ever needed. Null when
 * nobody holds the job any more.
 */
export async function heldFacts(
  db: Queryable,
  shard: number,
  id: string,
): Promise<HeldFacts | null> {
  return (await db.run(FACTS, [shard, id]))[0] ?? null;
}
