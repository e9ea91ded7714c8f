import { HOOK_PREFIX } from '../../core/definition/hooks.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { retireDeployment } from './deployments.ts';

/** How many of the newest deployments of a tenant are kept in any case. */
const KEPT = 20;
const COLLECTOR = { name: 'collector', address: null };

/** Neither among the newest nor part of a release. */
const OLD = statement<{ number: number; tenant: string; keys: string[] }>(
  'old_deployments',
  `select d.number, d.tenant, d.keys from longshore.deployment d
   where d.retired_at is null
     and d.number <= (select n.number from longshore.deployment n where n.tenant = d.tenant
                      order by n.number desc offset ${KEPT} limit 1)
     and not exists (select 1 from longshore.release r
                     where r.tenant = d.tenant and d.number in (r.current, r.previous, r.canary))
   order by d.number limit 100`,
);

/**
 * Whether one shard has live jobs of a deployment. Jobs that wait for their time are in no index by
 * queue; the counters know them.
 */
const LIVE = statement<{ live: boolean }>(
  'deployment_has_jobs',
  `with own as materialized (
     select q.queue from longshore.queue q
     where q.shard = $1 and q.version = $2
       and q.key = any ($3::text[] || array(select '${HOOK_PREFIX}' || k from unnest($3::text[]) as k))
   )
   select exists (select 1 from own q cross join lateral (
       select 1 from longshore.waiting w
       where w.shard = $1 and w.queue = q.queue and w.seq is not null limit 1) w)
     or exists (select 1 from own q cross join lateral (
       select 1 from longshore.waiting w
       where w.shard = $1 and w.queue = q.queue and w.blocked is not null limit 1) w)
     or exists (select 1 from own q cross join lateral (
       select 1 from longshore.waiting w
       where w.shard = $1 and w.queue = q.queue and w.claim_no > 0 limit 1) w)
     or exists (select 1 from longshore.worker a cross join lateral (
       select 1 from longshore.running r
       where r.shard = $1 and r.worker = a.instance
         and r.queue = any (array(select queue from own)) limit 1) r
       where a.shard = $1)
     or exists (select 1 from own q cross join lateral (
       select sum(case when c.state in ('scheduled', 'created') then c.n else 0 end)
         - sum(case when c.was in ('scheduled', 'created') then c.n else 0 end) as n
       from longshore.counter c where c.shard = $1 and c.queue = q.queue) c where c.n > 0)
     as live`,
);

/** Archives that no deployment in use needs; an upload of today may still be deployed. */
const UNUSED = statement<{ sha256: string }>(
  'unused_artifacts',
  `update longshore.artifact a set removed_at = clock_timestamp()
   where a.removed_at is null and a.created_at < clock_timestamp() - interval '1 day'
     and not exists (select 1 from longshore.deployment d
                     where d.tenant = a.tenant and d.sha256 = a.sha256
                       and (d.retired_at is null
                         or d.retired_at > clock_timestamp() - interval '1 day'))
   returning a.sha256`,
);

const STILL_USED = statement<{ sha256: string }>(
  'used_artifacts',
  `select distinct sha256 from longshore.artifact
   where sha256 = any ($1::text[]) and removed_at is null`,
);

/** Retires old deployments without jobs; returns their numbers. */
export async function retireOld(db: Db): Promise<number[]> {
  const retired: number[] = [];
  for (const { number, tenant, keys } of await db.run(OLD)) {
    if (await hasJobs(db, number, keys)) continue;
    if (await retireDeployment(db, COLLECTOR, tenant, number)) retired.push(number);
  }
  return retired;
}

async function hasJobs(db: Db, number: number, keys: readonly string[]): Promise<boolean> {
  for (let shard = 0; shard < db.shards; shard += 1) {
    const [row] = await db.run(LIVE, [shard, number, keys]);
    if (row?.live) return true;
  }
  return false;
}

/** The archives that may be deleted from the storage. */
export async function removeUnused(db: Queryable): Promise<string[]> {
  const removed = (await db.run(UNUSED)).map(({ sha256 }) => sha256);
  if (removed.length === 0) return [];
  // Another tenant may have uploaded the same content.
  const used = new Set((await db.run(STILL_USED, [removed])).map(({ sha256 }) => sha256));
  return [...new Set(removed)].filter((sha256) => !used.has(sha256));
}
