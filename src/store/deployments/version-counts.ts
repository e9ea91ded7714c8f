import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import type { VersionCounts } from '../../core/deployment/version-jobs.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * What became of the jobs of some versions, from the counters: the cost depends on the number of
 * queues, not of jobs. Definitions of the tenant `default` are counted for all tenants.
 */

export interface DefinitionVersion {
  key: string;
  version: number;
}

const COUNTS = statement<DefinitionVersion & Record<keyof VersionCounts, number>>(
  'count_versions',
  `select v.key, v.version,
     coalesce(sum(c.n * (c.into_waiting - c.from_waiting)), 0)::bigint as waiting,
     coalesce(sum(c.n * (c.into_running - c.from_running)), 0)::bigint as running,
     coalesce(sum(c.n) filter (where c.was = 'running' and c.state = 'succeeded'), 0)::bigint
       as succeeded,
     coalesce(sum(c.n) filter (where c.was is not null and c.state = 'failed'), 0)::bigint
       as failed,
     coalesce(sum(c.n) filter (where c.was = 'running'
       and c.state in ('succeeded', 'failed', 'retrying')), 0)::bigint as attempts,
     coalesce(sum(c.n) filter (where c.was = 'running'
       and c.state in ('failed', 'retrying')), 0)::bigint as "failedAttempts"
   from unnest($2::text[], $3::int[]) as v(key, version)
   cross join lateral (
     select q.queue from longshore.queue q
     where q.shard = $1 and q.key = v.key and q.version = v.version
       and ($4 = '${DEFAULT_TENANT}' or q.tenant = $4) offset 0
   ) q
   cross join lateral (
     select c.was, c.state, c.n,
       (c.state in ('created', 'scheduled', 'queued', 'retrying', 'suspended') is true)::int as into_waiting,
       (c.was in ('created', 'scheduled', 'queued', 'retrying', 'suspended') is true)::int as from_waiting,
       (c.state in ('running', 'cancelling') is true)::int as into_running,
       (c.was in ('running', 'cancelling') is true)::int as from_running
     from longshore.counter c where c.shard = $1 and c.queue = q.queue offset 0
   ) c
   group by v.key, v.version`,
);

type Counts = ReadonlyMap<string, VersionCounts>;

const nameOf = (key: string, version: number) => `${key}@${version}`;

/** Over all shards. */
export async function countVersions(
  db: Queryable & { shards: number },
  tenant: string,
  versions: readonly DefinitionVersion[],
): Promise<Counts> {
  const counts = new Map<string, VersionCounts>();
  const keys = versions.map(({ key }) => key);
  const numbers = versions.map(({ version }) => version);
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const row of await db.run(COUNTS, [shard, keys, numbers, tenant])) {
      const { key, version, ...more } = row;
      const before = counts.get(nameOf(key, version));
      counts.set(nameOf(key, version), before ? sum(before, more) : more);
    }
  }
  return counts;
}

export function countsOf(counts: Counts, key: string, version: number): VersionCounts | undefined {
  return counts.get(nameOf(key, version));
}

function sum(a: VersionCounts, b: VersionCounts): VersionCounts {
  return {
    waiting: a.waiting + b.waiting,
    running: a.running + b.running,
    succeeded: a.succeeded + b.succeeded,
    failed: a.failed + b.failed,
    attempts: a.attempts + b.attempts,
    failedAttempts: a.failedAttempts + b.failedAttempts,
  };
}

const BELOW = statement<DefinitionVersion>(
  'versions_below',
  `select d.key, max(d.version) as version from longshore.definition d
   where d.key = any ($1::text[]) and d.version < $2 and d.tenant in ($3, '${DEFAULT_TENANT}')
   group by d.key`,
);

/** The highest version of each definition below this one, deployed or from a folder. */
export async function versionsBelow(
  db: Queryable,
  tenant: string,
  keys: readonly string[],
  number: number,
): Promise<Map<string, number>> {
  const rows = await db.run(BELOW, [keys, number, tenant]);
  return new Map(rows.map(({ key, version }) => [key, version]));
}
