import {
  type DeadLetterGroup,
  type QueueGroup,
  mergeGroups,
} from '../../core/failure/dead-letter.ts';
import { type Db, statement } from '../connection/db.ts';
import { narrow } from '../../core/search/narrow.ts';
import { criteriaOf } from './dead-letters.ts';
import { locate } from './search-queues.ts';
import { causeMessages } from './searchable.ts';

/**
 * Dead letters grouped by fingerprint. The query jumps through the fingerprint index from one
 * group to the next, so its cost grows with the number of groups. For each group it reads both
 * ends of its index range and counts the newest entries up to a bound; beyond the bound the count
 * is "at least". The same scan assigns each entry to a part of the window. No counter is
 * maintained, so failing jobs pay nothing and the counts are always exact or marked.
 */
export interface GroupSearch {
  tenant: string;
  definitionKey: string | null;
  errorCode: string | null;
  from: Date | null;
  to: Date | null;
  /** A search of definitions and codes only; other terms would need each job. */
  q?: string | null;
  /** Start of each part of the window, for a trend; empty for none. */
  parts?: readonly Date[];
  limit: number;
}

/** Entries per part, numbered from 1; part 0 is what came before the first. */
type Parts = Record<number, number>;

/** Also give an ORDER BY, even to count: then the planner has only one index to choose. */
const WITHIN = `f.shard = $1 and f.queue = g.queue and f.state = 'failed'
  and f.fingerprint = g.fingerprint
  and f.finished_at >= coalesce($3::timestamptz, '-infinity')
  and f.finished_at < coalesce($4::timestamptz, 'infinity')`;

/**
 * A retried job that fails again has a new end, but the error is as old as its first end. So the
 * jobs that were created first are asked for their earlier ends, among the latest attempts.
 */
const FIRST_JOBS = 10;
const ATTEMPTS_OF_JOB = 100;

/** The message of the innermost cause. */
const ROOT_CAUSE = `coalesce(${causeMessages('f.error').join(', ')})`;

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
  select g.fingerprint, newest.error_code as code, newest.message, newest.cause, newest.id as "jobId",
    least(counted.count, $5)::int as count, counted.count <= $5 as "countIsExact",
    counted.parts,
    to_json(least(oldest.finished_at, counted.first_end)) #>> '{}' as "firstSeen",
    to_json(newest.finished_at) #>> '{}' as "lastSeen",
    l.key as "definitionKey", l.version,
    (select max(n) from g)::int as total
  from g
  cross join lateral (
    select f.id, f.finished_at, f.error_code, f.error ->> 'message' as message,
      ${ROOT_CAUSE} as cause
    from longshore.done f where ${WITHIN}
    order by f.finished_at desc, f.id desc limit 1
  ) newest
  cross join lateral (
    select f.finished_at from longshore.done f where ${WITHIN}
    order by f.finished_at, f.id limit 1
  ) oldest
  cross join lateral (
    with seen as materialized (
      select f.finished_at, f.id from longshore.done f where ${WITHIN}
      order by f.finished_at desc, f.id desc limit $5 + 1
    ),
    p as (
      select width_bucket(finished_at, $8::timestamptz[]) as part, count(*) as count from seen
      group by 1
    )
    select sum(p.count) as count, json_object_agg(p.part, p.count) as parts, (
        select min(a.finished_at) from (select id from seen order by id limit ${FIRST_JOBS}) f
        cross join lateral (
          select a.finished_at, a.next, a.fingerprint from longshore.attempt a
          where a.shard = $1 and a.job_id = f.id order by a.claim_no desc limit ${ATTEMPTS_OF_JOB}
        ) a
        where a.next = 'failed' and a.fingerprint = g.fingerprint
          and a.finished_at >= coalesce($3::timestamptz, '-infinity')
      ) as first_end
    from p
  ) counted
  cross join lateral (
    select key, version from longshore.queue where shard = $1 and queue = g.queue limit 1
  ) l
  where g.n <= $6 and ($7::text is null or newest.error_code = $7)`,
);

/** Entries counted per group and queue, and groups read per queue. */
const COUNT_MAX = 100_000;
const GROUPS_MAX = 1_000;

/** The most frequent first. `complete` is false when there are more groups. */
export async function deadGroups(
  db: Db,
  search: GroupSearch,
  { countMax = COUNT_MAX, groupsMax = GROUPS_MAX } = {},
): Promise<{ groups: DeadLetterGroup[]; complete: boolean }> {
  const { tenant, from, to, parts: begins = [], limit, q = null } = search;
  const narrowed = narrow(criteriaOf({ ...search, q }));
  if (narrowed === null) return { groups: [], complete: true };
  const { errorCode } = narrowed.criteria;
  const parts: QueueGroup[] = [];
  let complete = true;
  for (let shard = 0; shard < db.shards; shard += 1) {
    const { queues } = await locate(db, shard, tenant, narrowed);
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
