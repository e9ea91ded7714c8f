import { type SeriesPlan, TOTAL_KEY } from '../../core/series/series-plan.ts';
import type { SeriesRows, SeriesSlot } from '../../core/series/series.ts';
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

export async function readSeries(
  db: Db,
  tenant: string,
  definitionKey: string | null,
  { fromMs, toMs, slotMinutes }: SeriesPlan,
): Promise<SeriesRows[]> {
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const range = [slotMinutes, new Date(fromMs), new Date(toMs)];
  return await Promise.all(
    shards.map(async (shard) => {
      const rows = await db.run(SERIES, [shard, tenant, definitionKey ?? TOTAL_KEY, ...range]);
      const slots = rows.flatMap(({ slot, ...row }) => (slot === null ? [] : [{ ...row, slot }]));
      return { depthAtEnd: rows[0]?.depthAtEnd ?? 0, slots };
    }),
  );
}
