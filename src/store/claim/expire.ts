import { expired } from '../../core/job/expiry.ts';
import type { WaitingState } from '../../core/job/job.ts';
import { type Db, statement } from '../connection/db.ts';
import { failWaiting } from './fail-waiting.ts';
import type { LevelHint } from '../connection/wake.ts';

export interface ExpiredJob {
  id: string;
  /** For the log. */
  definition: string;
  tenant: string;
  traceparent: string | null;
}

export interface Expiry {
  ids: string[];
  jobs: ExpiredJob[];
  /** Whether more jobs may have expired. */
  more: boolean;
  levels: LevelHint[];
  /** Time until the next one expires; null when none will. */
  nextMs: number | null;
}

/** The first jobs that have expired by the database's clock, and when the next one will. */
const FIND_EXPIRED = statement<{
  id: string | null;
  claim: number;
  was: WaitingState;
  expiresAt: string;
  definition: string;
  tenant: string;
  traceparent: string | null;
  next_ms: number | null;
}>(
  'find_expired',
  `with clock as materialized (select clock_timestamp() as at),
  over as materialized (
    select w.id, w.queue, w.claim_no, w.state, w.expires_at from longshore.waiting w
    where w.shard = $1 and w.expires_at <= (select at from clock)
    order by w.expires_at limit $2
  )
  select o.id, o.claim_no as claim, o.state as was, to_json(o.expires_at) #>> '{}' as "expiresAt",
    l.key as definition, l.tenant, j.traceparent, null::float8 as next_ms
  from over o
  left join lateral (
    select key, tenant from longshore.queue where shard = $1 and queue = o.queue limit 1
  ) l on true
  left join lateral (
    select traceparent from longshore.job where shard = $1 and id = o.id limit 1
  ) j on true
  union all
  select null, null, null, null, null, null, null,
    (select (extract(epoch from w.expires_at - (select at from clock)) * 1000)::float8
     from longshore.waiting w
     where w.shard = $1 and w.expires_at > (select at from clock)
     order by w.expires_at limit 1)`,
);

/** Ends jobs that are over before they have begun, at most `limit` of them. */
export async function expireJobs(db: Db, shard: number, limit: number): Promise<Expiry> {
  const rows = await db.run(FIND_EXPIRED, [shard, limit]);
  const over = rows.flatMap(({ id, ...row }) => (id === null ? [] : { id, ...row }));
  const { ids, levels } = await failWaiting(
    db,
    shard,
    over.map(({ id, claim, was, expiresAt }) => {
      return { id, claim, was, expiresAt, error: expired(expiresAt) };
    }),
  );
  const nextMs = rows.find(({ id }) => id === null)?.next_ms ?? null;
  const jobs = over.filter(({ id }) => ids.includes(id));
  return { ids, jobs, more: over.length === limit && ids.length > 0, levels, nextMs };
}
