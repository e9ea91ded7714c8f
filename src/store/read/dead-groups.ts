import {
  type DeadLetterGroup,
  type QueueGroup,
  mergeGroups,
} from '../../core/failure/dead-letter.ts';
import { type Db, statement } from '../connection/db.ts';
import { queuesOf } from './find-jobs.ts';

/**
 * Dead letters by fingerprint: two thousand failures are three errors. The index of fingerprints is
 * skipped through from one to the next, so what is read grows with the number of groups; each group
 * then needs its two ends, which are the ends of its part of the index, and its count. Counting reads
 * entries of the index, up to a bound and the newest first: beyond it "at least so many" is told. While
 * they are counted they are sorted into the parts of the window that are asked for. Nothing is kept
 * up to date for it, so failing jobs pay nothing, and what is told is always true.
 */
export interface GroupSearch {
  tenant: string;
  definitionKey: string | null;
  errorCode: string | null;
  from: Date | null;
  to: Date | null;
  /** Where each part of the window begins, for a trend; empty for none. */
  parts?: readonly Date[];
  limit: number;
}

/** How many are in each part, counted from 1; in 0 is what came before all of them. */
type Parts = Record<number, number>;

/** Who asks for these also asks for an order, even to count: it leaves the planner one way to go. */
const WITHIN = `f.shard = $1 and f.queue = g.queue and f.state = 'failed'
  and f.fingerprint = g.fingerprint
  and f.finished_at >= coalesce($3::timestamptz, '-infinity')
  and f.finished_at < coalesce($4::timestamptz, 'infinity')`;

const GROUPS = statement<Omit<QueueGroup, 'trend'> & { parts: Parts; total: number }>(
  'dead_groups',
  `with recursive step as (
    select l.queue, '' as fingerprint, 0 as n from unnest($2::int[]) as l(queue)
    union all
    select s.queue, (
        select f.fingerprint from longshore.done f
        where f.shard = $1 and f.queue = s.queue and f.state = 'failed'
          and f.fingerprint > s.fingerprint
        order by f.fingerprint limit 1), s.n + 1
    from step s where s.fingerprint is not null and s.n <= $6
  ),
  g as materialized (select queue, fingerprint, n from step where fingerprint is not null and n > 0)
  select g.fingerprint, newest.error_code as code, newest.message, newest.id as "jobId",
    least(counted.count, $5)::int as count, counted.count <= $5 as "countIsExact",
    counted.parts,
    to_json(oldest.finished_at) #>> '{}' as "firstSeen",
    to_json(newest.finished_at) #>> '{}' as "lastSeen",
    l.key as "definitionKey", l.version,
    (select max(n) from g)::int as total
  from g
  cross join lateral (
    select f.id, f.finished_at, f.error_code, f.error ->> 'message' as message
    from longshore.done f where ${WITHIN}
    order by f.finished_at desc, f.id desc limit 1
  ) newest
  cross join lateral (
    select f.finished_at from longshore.done f where ${WITHIN}
    order by f.finished_at, f.id limit 1
  ) oldest
  cross join lateral (
    select sum(p.count) as count, json_object_agg(p.part, p.count) as parts
    from (
      select width_bucket(f.finished_at, $8::timestamptz[]) as part, count(*) as count
      from (
        select f.finished_at from longshore.done f where ${WITHIN}
        order by f.finished_at desc, f.id desc limit $5 + 1
      ) f
      group by 1
    ) p
  ) counted
  cross join lateral (
    select key, version from longshore.queue where shard = $1 and queue = g.queue limit 1
  ) l
  where g.n <= $6 and ($7::text is null or newest.error_code = $7)`,
);

/** Of each group of each queue so many are counted, and of each queue so many groups are looked at. */
const COUNT_MAX = 100_000;
const GROUPS_MAX = 1_000;

/** The most frequent first. `complete` is false when there are more groups than these. */
export async function deadGroups(
  db: Db,
  { tenant, definitionKey, errorCode, from, to, parts: begins = [], limit }: GroupSearch,
  { countMax = COUNT_MAX, groupsMax = GROUPS_MAX } = {},
): Promise<{ groups: DeadLetterGroup[]; complete: boolean }> {
  const parts: QueueGroup[] = [];
  let complete = true;
  for (let shard = 0; shard < db.shards; shard += 1) {
    const queues = await queuesOf(db, shard, tenant, definitionKey);
    if (queues.length === 0) continue;
    const values = [shard, queues, from, to, countMax, groupsMax, errorCode, begins];
    for (const { total, parts: counts, ...part } of await db.run(GROUPS, values)) {
      parts.push({ ...part, trend: begins.map((_, at) => counts[at + 1] ?? 0) });
      if (total > groupsMax) complete = false;
    }
  }
  const iso = (time: string) => new Date(time).toISOString();
  const groups = mergeGroups(parts).map((group) => ({
    ...group,
    firstSeen: iso(group.firstSeen),
    lastSeen: iso(group.lastSeen),
  }));
  return { groups: groups.slice(0, limit), complete: complete && groups.length <= limit };
}
