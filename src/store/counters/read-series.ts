import { depthParts, type SeriesPlan, STEPS, TOTAL_KEY } from '../../core/series/series-plan.ts';
import type { DepthRows, SeriesRows, SeriesSlot } from '../../core/series/series.ts';
import { type Db, statement } from '../connection/db.ts';

/**
 * What happened to the jobs of a definition, or of all of a tenant, in stored slots. The cost depends on
 * the number of slots. The depth at the end of the range is the depth now without what came later; one
 * statement reads both, so that they agree.
 */
const SERIES = statement<{ depthAtEnd: number; slot: Date | null } & Omit<SeriesSlot, 'slot'>>(
  'read_series',
  `with now as materialized (
     select coalesce(sum(v.n), 0)::bigint as depth
     from longshore.queue l join longshore.counter t on t.shard = $1 and t.queue = l.queue
     cross join lateral (values (t.state, t.n), (t.was, -t.n)) as v(state, n)
     where l.shard = $1 and l.tenant = $2 and left(l.key, 1) <> '$'
       and l.key = coalesce(nullif($3, '${TOTAL_KEY}'), l.key) and v.state = 'queued'
   ),
   later as materialized (
     select coalesce(sum(s.deeper), 0)::bigint as deeper from longshore.counter_series s
     where s.shard = $1 and s.tenant = $2 and s.key = $3 and s.minutes = $4 and s.slot >= $6
   )
   select (select depth from now) - (select deeper from later) as "depthAtEnd", s.*
   from (values (1)) one(row) left join lateral (
     select slot, enqueued, started, succeeded, failed, cancelled, retried, deeper, waited, ran
     from longshore.counter_series s
     where s.shard = $1 and s.tenant = $2 and s.key = $3 and s.minutes = $4
       and s.slot >= $5 and s.slot < $6
     order by s.slot
   ) s on true`,
);

/** The depth in the shortest slots that are kept of each part of the range; it keeps short peaks. */
const DEPTHS = statement<{ depthAtEnd: number; slot: Date | null; deeper: number }>(
  'read_series_depths',
  `with now as materialized (
     select coalesce(sum(v.n), 0)::bigint as depth
     from longshore.queue l join longshore.counter t on t.shard = $1 and t.queue = l.queue
     cross join lateral (values (t.state, t.n), (t.was, -t.n)) as v(state, n)
     where l.shard = $1 and l.tenant = $2 and left(l.key, 1) <> '$'
       and l.key = coalesce(nullif($3, '${TOTAL_KEY}'), l.key) and v.state = 'queued'
   ),
   later as materialized (
     select coalesce(sum(s.deeper), 0)::bigint as deeper from longshore.counter_series s
     where s.shard = $1 and s.tenant = $2 and s.key = $3 and s.minutes = $7 and s.slot >= $8
   )
   select (select depth from now) - (select deeper from later) as "depthAtEnd", s.*
   from (values (1)) one(row) left join lateral (
     select s.slot, s.deeper
     from unnest($4::smallint[], $5::timestamptz[], $6::timestamptz[]) p(minutes, since, until)
     cross join lateral (
       select slot, deeper from longshore.counter_series s
       where s.shard = $1 and s.tenant = $2 and s.key = $3 and s.minutes = p.minutes
         and s.slot >= p.since and s.slot < p.until and s.deeper <> 0
     ) s
   ) s on true`,
);

async function readDepths(
  db: Db,
  [shard, tenant, key]: readonly [number, string, string],
  { fromMs, toMs, slotMinutes }: SeriesPlan,
  at: Date,
): Promise<DepthRows> {
  let untilMs = toMs;
  const parts = depthParts(at).map((part) => {
    const sinceMs = Math.max(fromMs, part.fromMs);
    const one = { minutes: part.minutes, since: new Date(sinceMs), until: new Date(untilMs) };
    untilMs = Math.min(untilMs, sinceMs);
    return one;
  });
  const rows = await db.run(DEPTHS, [
    shard,
    tenant,
    key,
    parts.map(({ minutes }) => minutes),
    parts.map(({ since }) => since),
    parts.map(({ until }) => until),
    slotMinutes,
    new Date(toMs),
  ]);
  const changes = rows.flatMap(({ slot, deeper }) => (slot === null ? [] : [{ slot, deeper }]));
  return { depthAtEnd: rows[0]?.depthAtEnd ?? 0, changes };
}

export async function readSeries(
  db: Db,
  tenant: string,
  definitionKey: string | null,
  plan: SeriesPlan,
  at: Date,
): Promise<SeriesRows[]> {
  const { fromMs, toMs, slotMinutes } = plan;
  const key = definitionKey ?? TOTAL_KEY;
  const areShortest = STEPS.every(({ minutes }) => minutes >= slotMinutes);
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const range = [slotMinutes, new Date(fromMs), new Date(toMs)];
  return await Promise.all(
    shards.map(async (shard) => {
      const rows = await db.run(SERIES, [shard, tenant, key, ...range]);
      const slots = rows.flatMap(({ slot, ...row }) => (slot === null ? [] : [{ ...row, slot }]));
      const depths = areShortest ? null : await readDepths(db, [shard, tenant, key], plan, at);
      return { depthAtEnd: rows[0]?.depthAtEnd ?? 0, slots, ...(depths && { depths }) };
    }),
  );
}
