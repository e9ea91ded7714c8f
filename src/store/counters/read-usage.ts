import {
  type DayRange,
  type StoredUsage,
  USAGE_ROWS_MAX,
  type UsageGroup,
} from '../../core/usage/usage.ts';
import { type Db, statement } from '../connection/db.ts';

/** What jobs used. The cost depends on the number of days and definitions, not of jobs. */
export interface AskedUsage extends DayRange {
  /** Null: all tenants. */
  tenant: string | null;
  /** Null: all definitions. */
  definitionKey: string | null;
  groupBy: readonly UsageGroup[];
}

const SUMS = `sum(u.jobs)::bigint as jobs, sum(u.attempts)::bigint as attempts, sum(u.run_ms) as "runMs",
     sum(u.cpu_ms)::bigint as "cpuMs", max(u.peak_rss_bytes) as "peakRssBytes"`;

const GROUPS = `case when 'day' = any ($4::text[]) then u.day::text end as day,
     case when 'tenant' = any ($4::text[]) then u.tenant end as tenant,
     case when 'definition' = any ($4::text[]) then u.key end as "definitionKey"`;

const OF_TENANT = statement<StoredUsage>(
  'read_usage',
  `select ${GROUPS}, ${SUMS}
   from generate_series($2::date, $3::date, interval '1 day') d(day)
   cross join lateral (
     select * from longshore.usage_day u
     where u.shard = $1 and u.day = d.day::date and u.tenant = $6
       and u.key = coalesce($5::text, u.key)
   ) u
   group by 1, 2, 3 limit $7`,
);

const OF_ALL = statement<StoredUsage>(
  'read_usage_of_tenants',
  `select ${GROUPS}, ${SUMS}
   from longshore.usage_day u
   where u.shard = $1 and u.day >= $2::date and u.day <= $3::date
     and u.key = coalesce($5::text, u.key)
   group by 1, 2, 3 limit $6`,
);

/** Of all shards. Null when there are too many rows. */
export async function readUsage(
  db: Db,
  { from, to, tenant, definitionKey, groupBy }: AskedUsage,
): Promise<StoredUsage[] | null> {
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const most = USAGE_ROWS_MAX + 1;
  const rows = await Promise.all(
    shards.map(async (shard) => {
      const values = [shard, from, to, [...groupBy], definitionKey];
      return tenant === null
        ? await db.run(OF_ALL, [...values, most])
        : await db.run(OF_TENANT, [...values, tenant, most]);
    }),
  );
  return rows.some(({ length }) => length === most) ? null : rows.flat();
}

const USED = statement<{ n: number; jobs: number; runMs: number; cpuMs: number }>(
  'read_budget_usage',
  `select i.n, u.jobs, u."runMs", u."cpuMs"
   from json_to_recordset($2::json) as i(n int, tenant text, key text, "from" date, "to" date)
   cross join lateral (
     select coalesce(sum(u.jobs), 0)::bigint as jobs, coalesce(sum(u.run_ms), 0)::float8 as "runMs",
       coalesce(sum(u.cpu_ms), 0)::bigint as "cpuMs"
     from generate_series(i."from", i."to", interval '1 day') d(day)
     cross join lateral (
       select u.jobs, u.run_ms, u.cpu_ms from longshore.usage_day u
       where u.shard = $1 and u.day = d.day::date and u.tenant = i.tenant
         and u.key = coalesce(i.key, u.key)
     ) u
   ) u`,
);

export interface AskedSums extends DayRange {
  tenant: string;
  definitionKey: string | null;
}

/** The sums of each question, over all shards. */
export async function readUsageSums(
  db: Db,
  asked: readonly AskedSums[],
): Promise<{ jobs: number; runSeconds: number; cpuSeconds: number }[]> {
  const sums = asked.map(() => ({ jobs: 0, runSeconds: 0, cpuSeconds: 0 }));
  if (asked.length === 0) return sums;
  const questions = asked.map(({ tenant, definitionKey: key, from, to }, n) => {
    return { n, tenant, key, from, to };
  });
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const found = await Promise.all(
    shards.map(async (shard) => await db.run(USED, [shard, JSON.stringify(questions)])),
  );
  for (const { n, jobs, runMs, cpuMs } of found.flat()) {
    const sum = sums[n];
    if (!sum) continue;
    sum.jobs += jobs;
    sum.runSeconds += runMs / 1_000;
    sum.cpuSeconds += cpuMs / 1_000;
  }
  return sums;
}
