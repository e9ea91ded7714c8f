import { isSystemKey } from '../../core/definition/hooks.ts';
import type { ScaleRows } from '../../core/views/scale.ts';
import { MINUTE_MS } from '../../core/values/duration.ts';
import { type Db, statement } from '../connection/db.ts';
import { readLimits } from '../limits/limits.ts';
import { readOldest } from './read-stats.ts';

/**
 * The load of the definitions of a tenant, or of all, from the counters: the cost depends on the
 * number of queues, not of jobs. Hooks and deliveries count, because they use slots like any job.
 */

/** The full minutes over which arrivals are counted, besides the current one. */
const ARRIVAL_MINUTES = 5;

const OWN = 'l.shard = $1 and l.tenant = coalesce($2, l.tenant)';

const DEPTHS = statement<ScaleRows['depths'][number]>(
  'scale_depths',
  `select l.key, l.tenant, l.paused_at is not null as paused,
     coalesce(sum(m.n) filter (where m.state = 'queued'), 0)::bigint as waiting,
     coalesce(sum(m.n) filter (where m.state in ('running', 'cancelling')), 0)::bigint as running
   from longshore.queue l left join lateral (
     select v.state, v.n from longshore.counter t
     cross join lateral (values (t.state, t.n), (t.was, -t.n)) as v(state, n)
     where t.shard = $1 and t.queue = l.queue and v.state in ('queued', 'running', 'cancelling')
   ) m on true
   where ${OWN}
   group by 1, 2, 3`,
);

/**
 * Run times are in slots of a quarter of an hour: the current and the one before count. Attempts that
 * went back to the queue did not run to their end. Bucket -1 of queued has the arrivals of a minute.
 */
const RECENT = statement<ScaleRows['recent'][number]>(
  'scale_recent',
  `select l.key, l.tenant, l.paused_at is not null as paused,
     coalesce(sum(s.n) filter (where s.bucket = -1 and s.slot >= $3), 0)::bigint as arrivals,
     coalesce(sum(s.n) filter (where s.bucket >= 0), 0)::bigint as runs,
     coalesce(sum(s.ms) filter (where s.bucket >= 0), 0) as "ranMs"
   from longshore.queue l cross join lateral (
     select s.bucket, s.slot, s.n, s.ms from longshore.counter_span s
     where s.shard = $1 and s.queue = l.queue
       and s.slot > (select clock_timestamp() - interval '30 minutes')
       and case when s.state = 'queued' then s.bucket = -1
         else s.bucket >= 0 and s.state <> 'running' end
   ) s
   where ${OWN}
   group by 1, 2, 3`,
);

const EVER = statement<ScaleRows['ever'][number]>(
  'scale_ever',
  `select l.key, sum(s.n)::bigint as runs, sum(s.ms) as "ranMs"
   from longshore.queue l cross join lateral (
     select s.n, s.ms from longshore.counter_span s
     where s.shard = $1 and s.queue = l.queue and s.slot = '-infinity' and s.bucket >= 0
       and s.state not in ('queued', 'running')
   ) s
   where ${OWN}
   group by l.key`,
);

/** Every worker has a row in each shard, so one shard is enough. Names are like `image.resize@1`. */
const SLOTS = statement<{ key: string | null; slots: number }>(
  'scale_slots',
  `with active as materialized (
     select slots, definitions from longshore.worker
     where shard = 0 and dead_at is null and draining_at is null
       and lease_until > (select clock_timestamp())
   )
   select k.key, sum(a.slots)::int as slots
   from active a cross join lateral (
     select distinct split_part(d.name, '@', 1) as key from unnest(a.definitions) as d(name)
   ) k
   group by k.key
   union all
   select null, coalesce(sum(slots), 0)::int from active`,
);

const NOW = statement<{ at: Date }>('scale_clock', 'select clock_timestamp() as at');

export async function readScale(db: Db, tenant: string | null): Promise<ScaleRows> {
  const [now] = await db.run(NOW);
  const at = now?.at ?? new Date(0);
  const minuteMs = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS;
  const arrivalsFrom = new Date(minuteMs - ARRIVAL_MINUTES * MINUTE_MS);
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const all = async <Row>(read: (shard: number) => Promise<Row[]>) =>
    (await Promise.all(shards.map(read))).flat();
  const [depths, recent, ever, oldest, slots] = await Promise.all([
    all(async (shard) => await db.run(DEPTHS, [shard, tenant])),
    all(async (shard) => await db.run(RECENT, [shard, tenant, arrivalsFrom])),
    all(async (shard) => await db.run(EVER, [shard, tenant])),
    readOldest(db, tenant, true),
    db.run(SLOTS),
  ]);
  const keys = [...new Set(depths.map(({ key }) => key))].filter((key) => !isSystemKey(key));
  const limits = await readLimits(db, 'definition', keys);
  return {
    at,
    arrivalsFrom,
    depths,
    recent,
    ever,
    oldest,
    slots: slots.flatMap(({ key, slots: n }) => (key === null ? [] : [{ key, slots: n }])),
    allSlots: slots.find(({ key }) => key === null)?.slots ?? 0,
    limits: new Map(limits.map(({ name, effective }) => [name, effective])),
    tenantLimits: await readTenantLimits(db, [...new Set(depths.map((row) => row.tenant))]),
  };
}

async function readTenantLimits(db: Db, tenants: readonly string[]): Promise<Map<string, number>> {
  const views = await readLimits(db, 'tenant', tenants);
  return new Map(
    views.flatMap(({ name, effective: { concurrencyLimit } }) =>
      concurrencyLimit === null ? [] : [[name, concurrencyLimit]],
    ),
  );
}
