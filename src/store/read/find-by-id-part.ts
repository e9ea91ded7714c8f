import { idsFrom, shardOfIdEnd } from '../../core/job/short-id.ts';
import type { JobView } from '../../core/job/job.ts';
import { type Db, statement } from '../connection/db.ts';
import { queuesOf } from './search-queues.ts';
import { viewPage } from './view-page.ts';

/** Ids that begin with the given digits: one probe for each queue of the tenant. */
const BY_BEGINNING = statement<{ id: string }>(
  'find_by_id_beginning',
  `select j.id from unnest($2::int[]) as l(queue)
   cross join lateral (
     select j.id from longshore.job j
     where j.shard = $1 and j.queue = l.queue and j.id between $3 and $4
     order by j.id desc limit $5
   ) j
   order by j.id desc limit $5`,
);

/**
 * Ids that end with the given digits. No index has them, since every job would pay for it: the
 * search passes the newest jobs of each queue, and the newest failed ones, which are older and
 * looked for most.
 */
const BY_END = statement<{ id: string }>(
  'find_by_id_end',
  `select distinct passed.id from unnest($2::int[]) as l(queue)
   cross join lateral (
     (select j.id from longshore.job j
      where j.shard = $1 and j.queue = l.queue
      order by j.id desc limit $4)
     union all
     (select f.id from longshore.done f
      where f.shard = $1 and f.queue = l.queue and f.state = 'failed'
      order by f.id desc limit $4)
   ) passed
   where right(encode(uuid_send(passed.id), 'hex'), length($3)) = $3
   order by passed.id desc limit $5`,
);

/** Jobs that one search passes, and jobs of each queue that it passes at least. */
const PASSED_MAX = 100_000;
const PASSED_OF_QUEUE_MIN = 100;
const FOUND_MAX = 10;

export interface IdSearch {
  /** Only jobs of this definition; null: of all, without those of the system. */
  definitionKey?: string | null;
  passedMax?: number;
}

/** The newest jobs of a tenant whose id begins or ends with these hex digits. */
export async function findByIdPart(
  db: Db,
  tenant: string,
  part: string,
  { unservedAfterMs, ...how }: IdSearch & { unservedAfterMs?: number | undefined } = {},
): Promise<JobView[]> {
  const ids = await idsByPart(db, tenant, part, how);
  return (await viewPage(db, tenant, ids, unservedAfterMs)).views;
}

/** Newest first. */
export async function idsByPart(
  db: Db,
  tenant: string,
  part: string,
  { definitionKey = null, passedMax = PASSED_MAX }: IdSearch = {},
): Promise<string[]> {
  const [first, last] = idsFrom(part);
  const ids = new Set<string>();
  for (let shard = 0; shard < db.shards; shard += 1) {
    const queues = await queuesOf(db, shard, tenant, definitionKey);
    if (queues.length === 0) continue;
    const begin = await db.run(BY_BEGINNING, [shard, queues, first, last, FOUND_MAX]);
    for (const { id } of begin) ids.add(id);
    if (shard !== shardOfIdEnd(part)) continue;
    const each = Math.max(PASSED_OF_QUEUE_MIN, Math.floor(passedMax / queues.length));
    for (const { id } of await db.run(BY_END, [shard, queues, part, each, FOUND_MAX])) ids.add(id);
  }
  return [...ids].sort().reverse().slice(0, FOUND_MAX);
}
