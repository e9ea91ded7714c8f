import type { TopicVersion } from '../../core/views/change-feed.ts';
import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { type Db, statement } from '../connection/db.ts';

/**
 * Reads the topic versions of the change feed (`core/views/change-feed.ts`), once a second while a
 * client is connected. The cost depends on the number of queues, workers and definitions, not of
 * jobs.
 *
 * The version of a definition's jobs is the number of their transitions so far. The counters are
 * rolled up once a second (`store/counters/roll-up.ts`), so the feed is up to a second behind, and
 * never ahead of what can be read. Heartbeats and progress are no transitions. Schedules have no
 * version: their runs change jobs, and manual changes are in the audit log.
 */
const OF_SHARD = statement<TopicVersion>(
  'read_shard_versions',
  `select 'jobs' as topic, q.key as name, sum(t.n)::text as version
   from longshore.queue q cross join lateral (
     select sum(t.n) as n from longshore.counter t where t.shard = $1 and t.queue = q.queue
   ) t
   where q.shard = $1 and q.tenant = $2 and left(q.key, 1) <> '$'
   group by q.key having sum(t.n) is not null
   union all
   select 'workers', '', md5(coalesce(string_agg(
     concat_ws(' ', w.instance, w.slots, w.draining_at, w.dead_at, w.definitions::text), ';'
     order by w.instance), ''))
   from longshore.worker w where w.shard = $1`,
);

/**
 * Of topics that only grow, the newest few: more than one second adds, and enough to include
 * entries that were committed out of order.
 */
const NEWEST = 50;

const OF_ALL = statement<TopicVersion>(
  'read_topic_versions',
  `select 'definitions' as topic, '' as name,
     md5(coalesce(string_agg(concat_ws(' ', key, version, published_at), ';' order by key, version), ''))
       as version
   from longshore.definition
   union all
   select 'pauses', '', md5(coalesce(string_agg(
     concat_ws(' ', scope, name, paused_at, paused_by, reason), ';' order by scope, name), ''))
   from longshore.pause where scope <> 'tenant' or name = $1 or $1 = '${DEFAULT_TENANT}'
   union all
   select 'alerts', '', md5(coalesce(string_agg(a.id::text, ';' order by a.id), ''))
   from longshore.alert a where a.tenant = $1 and a.resolved_at is null
   union all
   select 'bulks', '', md5(coalesce(string_agg(
     concat_ws(' ', b.id, b.status, b.changed, b.skipped, b.failed), ';' order by b.id), ''))
   from (
     select id, status, changed, skipped, failed from longshore.bulk
     where tenant = $1 order by id desc limit ${NEWEST}
   ) b
   union all
   select 'audit', '', md5(coalesce(string_agg(d.id::text, ';' order by d.id), ''))
   from (
     select id from longshore.audit where tenant = $1 order by id desc limit ${NEWEST}
   ) d`,
);

export async function readVersions(db: Db, tenant: string): Promise<TopicVersion[]> {
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const versions = await Promise.all([
    db.run(OF_ALL, [tenant]),
    ...shards.map(async (shard) => await db.run(OF_SHARD, [shard, tenant])),
  ]);
  return versions.flat();
}
