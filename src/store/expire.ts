import { expired } from '../core/expiry.ts';
import type { WaitingState } from '../core/job.ts';
import { type Db, statement } from './db.ts';
import { failWaiting } from './fail-waiting.ts';
import type { LineHint } from './wake.ts';

export interface Expiry {
  ids: string[];
  /** Whether more may be over than were ended. */
  more: boolean;
  lines: LineHint[];
  /** How long until the next one is over; null when none waits that will be. */
  nextMs: number | null;
}

/** The first that are over by the database's clock, and when the next one will be. */
const FIND_EXPIRED = statement<{
  id: string | null;
  claim: number;
  was: WaitingState;
  expiresAt: string;
  next_ms: number | null;
}>(
  'find_expired',
  `with clock as materialized (select clock_timestamp() as at),
  over as materialized (
    select w.id, w.claim_no, w.state, w.expires_at from longshore.waiting w
    where w.shard = $1 and w.expires_at <= (select at from clock)
    order by w.expires_at limit $2
  )
  select id, claim_no as claim, state as was, to_json(expires_at) #>> '{}' as "expiresAt",
    null::float8 as next_ms
  from over
  union all
  select null, null, null, null,
    (select (extract(epoch from w.expires_at - (select at from clock)) * 1000)::float8
     from longshore.waiting w
     where w.shard = $1 and w.expires_at > (select at from clock)
     order by w.expires_at limit 1)`,
);

/** Ends jobs that are over before they have begun, at most `limit` of them. */
export async function expireJobs(db: Db, shard: number, limit: number): Promise<Expiry> {
  const rows = await db.run(FIND_EXPIRED, [shard, limit]);
  const over = rows.flatMap(({ id, claim, was, expiresAt }) =>
    id === null ? [] : { id, claim, was, expiresAt, error: expired(expiresAt) },
  );
  const { ids, lines } = await failWaiting(db, shard, over);
  const nextMs = rows.find(({ id }) => id === null)?.next_ms ?? null;
  return { ids, more: over.length === limit && ids.length > 0, lines, nextMs };
}
