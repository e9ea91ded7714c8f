import { type Queryable, statement } from '../connection/db.ts';
import { inLockOrder } from '../connection/lock-order.ts';

/** An event that a job emitted. `n` counts within the claim. */
export interface NewEvent {
  id: string;
  claim: number;
  attempt: number;
  n: number;
  type: 'progress' | 'custom' | 'hook' | 'step';
  payloadJson: string;
  /** The time of the event is the database's clock minus this age. */
  ageMs: number;
}

/**
 * Fenced like log lines (`store/attempt/log-chunks.ts`). The lock also orders events and cancels:
 * a cancel needs the same row, so it comes strictly before or after, and the state that is read
 * under the lock says which. So the order of events in the history
 * (`core/views/history-events.ts`) is the order of commits. This requires that the worker writes
 * the events of a claim one batch after another.
 */
const WRITE = statement<{ n: number }>(
  'write_events',
  `with said as materialized (
    select * from json_to_recordset($2::json) as s(
      id uuid, claim int, attempt int, n int, type text, payload text, age_ms float8)
  ),
  owned as materialized (
    select s.*, r.state from said s cross join lateral (
      select r.state from longshore.running r
      where r.shard = $1 and r.id = s.id and r.claim_no = s.claim
      limit 1 for share
    ) r
  )
  insert into longshore.event (shard, job_id, claim_no, n, attempt, type, cancelling, at, payload)
  select $1, id, claim, n, attempt, type, state = 'cancelling',
    clock_timestamp() - make_interval(secs => age_ms / 1000.0), payload::json
  from owned
  on conflict do nothing
  returning n`,
);

/** Writes them in one statement. An existing event stays as it is. */
export async function writeEvents(
  db: Queryable,
  shard: number,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await db.run(WRITE, [shard, JSON.stringify(inLockOrder(events).map(toRow))]);
}

function toRow({ payloadJson, ageMs, ...event }: NewEvent) {
  return { ...event, payload: payloadJson, age_ms: ageMs };
}
