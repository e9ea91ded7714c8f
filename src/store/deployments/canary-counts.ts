import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { type AttemptCounts, CANARY_JUDGE } from '../../core/deployment/canary.ts';
import { FOUND_MAX } from '../alerts/alert-probes.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** A canary, and how the attempts of both versions ended. */
export interface CanaryCounts {
  tenant: string;
  number: number;
  canary: AttemptCounts;
  current: AttemptCounts;
}

interface CountsRow {
  tenant: string;
  number: number;
  canary_ended: string;
  canary_failed: string;
  current_ended: string;
  current_failed: string;
}

/** Of all definitions of a canary together, from the counters of one shard. */
const COUNTS = statement<CountsRow>(
  'canary_counts',
  `select r.tenant, coalesce(r.canary, 0) as number,
     coalesce(sum(c.n) filter (where q.version = r.canary), 0)::text as canary_ended,
     coalesce(sum(c.n) filter (where q.version = r.canary and c.state <> 'succeeded'), 0)::text
       as canary_failed,
     coalesce(sum(c.n) filter (where q.version = r.current), 0)::text as current_ended,
     coalesce(sum(c.n) filter (where q.version = r.current and c.state <> 'succeeded'), 0)::text
       as current_failed
   from longshore.release r
   cross join lateral (
     select q.queue, q.version from longshore.queue q
     where q.shard = $1 and q.key = r.key and q.version in (r.current, r.canary)
       and (r.tenant = '${DEFAULT_TENANT}' or q.tenant = r.tenant) offset 0
   ) q
   cross join lateral (
     select c.state, c.n from longshore.counter c
     where c.shard = $1 and c.queue = q.queue and c.was = 'running'
       and c.state in ('succeeded', 'failed', 'retrying') offset 0
   ) c
   where r.canary is not null
   group by r.tenant, r.canary`,
);

const ANY = statement<{ key: string }>(
  'any_canary',
  'select key from longshore.release where canary is not null limit 1',
);

/** Over all shards. */
export async function canaryCounts(db: Queryable & { shards: number }): Promise<CanaryCounts[]> {
  if (db.shards > 1 && (await db.run(ANY)).length === 0) return [];
  const byNumber = new Map<number, CanaryCounts>();
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const row of await db.run(COUNTS, [shard])) {
      const { tenant, number } = row;
      const none = { ended: 0, failed: 0 };
      const known = byNumber.get(number) ?? { tenant, number, canary: none, current: none };
      const sum = (counts: AttemptCounts, ended: string, failed: string) => ({
        ended: counts.ended + Number(ended),
        failed: counts.failed + Number(failed),
      });
      byNumber.set(number, {
        ...known,
        canary: sum(known.canary, row.canary_ended, row.canary_failed),
        current: sum(known.current, row.current_ended, row.current_failed),
      });
    }
  }
  return [...byNumber.values()];
}

/** A definition whose canary stopped itself, and nothing was released since. */
export interface StoppedCanary {
  tenant: string;
  definitionKey: string;
  reason: string;
  ageSeconds: number;
}

const STOPPED = statement<StoppedCanary>(
  'find_stopped_canaries',
  `select tenant, key as "definitionKey", coalesce(reason, '') as reason,
     extract(epoch from clock_timestamp() - changed_at)::float8 as "ageSeconds"
   from longshore.release
   where changed_by = '${CANARY_JUDGE}'
     and changed_at > clock_timestamp() - make_interval(secs => $1::float8)
   order by changed_at desc, tenant, key limit $2`,
);

export async function findStoppedCanaries(
  db: Queryable,
  seconds: number,
): Promise<StoppedCanary[]> {
  return await db.run(STOPPED, [seconds, FOUND_MAX]);
}
