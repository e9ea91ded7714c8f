import { type Queryable, statement } from '../connection/db.ts';

/** Webhooks whose sends fail: what alerts measure of them, and how many events wait. */

/** The most that are read; the longest failing ones. */
const FAILING_MAX = 1_000;

export interface FailingWebhook {
  tenant: string;
  webhookId: string;
  url: string;
  failures: number;
  lastError: string | null;
  seconds: number;
}

const FAILING = statement<FailingWebhook>(
  'find_failing_webhooks',
  `with clock as materialized (select clock_timestamp() as at)
   select h.tenant, h.id as "webhookId", h.url, h.failures, h.last_error as "lastError",
     extract(epoch from clock_timestamp() - h.failing_since)::float8 as seconds
   from longshore.webhook h
   where h.status = 'active' and h.failing_since is not null
     and h.failing_since <= (select at from clock) - make_interval(secs => $1::float8)
   order by h.failing_since limit $2`,
);

/** Active webhooks that have failed for so long, of all tenants. */
export async function findFailingWebhooks(
  db: Queryable,
  seconds: number,
): Promise<FailingWebhook[]> {
  return await db.run(FAILING, [seconds, FAILING_MAX]);
}

/** The newest deliveries of a webhook that are looked at, in each shard. */
const SEEN_MAX = 1_000;

const WAITING = statement<{ id: string; seen: number; waiting: number }>(
  'count_waiting_deliveries',
  `select h.id, d.seen, d.waiting from unnest($2::uuid[]) as h(id)
   cross join lateral (
     select count(*)::int as seen, count(w.id)::int as waiting from (
       select j.id from longshore.job j where j.shard = $1 and j.parent_id = h.id
       order by j.id desc limit $3
     ) j
     left join lateral (
       select w.id from longshore.waiting w where w.shard = $1 and w.id = j.id limit 1
     ) w on true
   ) d`,
);

export interface WaitingEvents {
  count: number;
  /** Whether older deliveries were not looked at. */
  isExact: boolean;
}

/** How many events each webhook has still to send. The cost is bounded by the webhooks asked about. */
export async function countWaitingEvents(
  db: Queryable & { shards: number },
  ids: readonly string[],
): Promise<Map<string, WaitingEvents>> {
  const found = new Map<string, WaitingEvents>();
  if (ids.length === 0) return found;
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const { id, seen, waiting } of await db.run(WAITING, [shard, ids, SEEN_MAX])) {
      const before = found.get(id) ?? { count: 0, isExact: true };
      const isExact = before.isExact && seen < SEEN_MAX;
      found.set(id, { count: before.count + waiting, isExact });
    }
  }
  return found;
}
