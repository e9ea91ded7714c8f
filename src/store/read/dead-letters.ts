import type { DeadLetterView } from '../../core/failure/dead-letter.ts';
import type { Db, Queryable, Statement } from '../connection/db.ts';
import { statement } from '../connection/db.ts';
import { queuesOf } from './find-jobs.ts';
import { SEARCHABLE } from './searchable.ts';
import { firstOf, mergeWalks, viewWalk, type Walk } from './walk.ts';

/**
 * Dead letters, the latest first: in the order in which they failed, not in which they were made. Each
 * queue is read from its own index and the heads are merged. A question for a group is answered by
 * the index that has it; what no index knows is sieved from a bounded number of them, so a page may
 * be short and still not be the last one.
 */
export interface DeadLetterSearch {
  tenant: string;
  definitionKey: string | null;
  errorCode: string | null;
  fingerprint: string | null;
  /** From this end on; `to` is up to it, and without it. */
  from: Date | null;
  to: Date | null;
  q: string | null;
  after: DeadLetterCursor | null;
  limit: number;
}

/** A place in the order of ends. The time has microseconds, so it stays the database's text, in UTC. */
export interface DeadLetterCursor {
  at: string;
  id: string;
}

interface Seen {
  letters: { at: string; id: string; fingerprint: string | null }[];
  last: DeadLetterCursor | null;
  seen: number;
}

const search = (name: string, group: string): Statement<Seen> =>
  statement(
    name,
    `with seen as materialized (
      select f.* from unnest($2::int[]) as l(queue)
      cross join lateral (
        select f.id, f.finished_at, f.error_code, f.fingerprint, f.error ->> 'message' as message
        from longshore.done f
        where f.shard = $1 and f.queue = l.queue and f.state = 'failed' ${group}
          and f.finished_at >= coalesce($3::timestamptz, '-infinity')
          and f.finished_at < coalesce($4::timestamptz, 'infinity')
          and (f.finished_at, f.id) < (coalesce($5::timestamp at time zone 'UTC', 'infinity'),
            coalesce($6::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        order by f.finished_at desc, f.id desc limit $7
      ) f
      order by f.finished_at desc, f.id desc limit $7
    ),
    fitting as (
      select s.finished_at, s.id, s.fingerprint from seen s
      where ($8::text is null or s.error_code = $8)
        and ($9::text is null or s.fingerprint = $9)
        and ($10::text is null or position(lower($10) in lower(s.message)) > 0 or exists (
          select 1 from longshore.job j where j.shard = $1 and j.id = s.id
            and position(lower($10) in lower(${SEARCHABLE})) > 0))
      order by s.finished_at desc, s.id desc limit $11
    )
    select
      coalesce((select json_agg(json_build_object('at', (finished_at at time zone 'UTC')::text, 'id', id,
        'fingerprint', fingerprint) order by finished_at desc, id desc) from fitting), '[]')
        as letters,
      (select json_build_object('at', (finished_at at time zone 'UTC')::text, 'id', id) from seen
       order by finished_at, id limit 1) as last,
      (select count(*)::int from seen) as seen`,
  );

const SEARCH = search('search_dead_letters', 'and f.error_code is not null');
const SEARCH_GROUP = search('search_dead_group', 'and f.fingerprint = $9');

/** Dead letters read for one page at most, when not all of them fit. */
const SEEN_MAX = 5_000;

export async function searchDeadLetters(
  db: Db,
  wanted: DeadLetterSearch,
): Promise<{ jobs: DeadLetterView[]; next: DeadLetterCursor | null }> {
  const found: Found[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) found.push(await walk(db, shard, wanted));
  const page = mergeWalks(found, latestFirst, wanted.limit);
  const prints = new Map(page.entries.map(({ id, fingerprint }) => [id, fingerprint]));
  const { views, next } = await viewWalk(db, wanted.tenant, page);
  // A job that was retried meanwhile is no longer a dead letter.
  const jobs = views
    .filter(({ status }) => status === 'failed')
    .map((view) => ({ ...view, fingerprint: prints.get(view.jobId) ?? null }));
  return { jobs, next: next && { at: next.at, id: next.id } };
}

type Found = Walk<Seen['letters'][number], DeadLetterCursor>;

async function walk(db: Queryable, shard: number, wanted: DeadLetterSearch): Promise<Found> {
  const { tenant, definitionKey, errorCode, fingerprint, from, to, q, after, limit } = wanted;
  const queues = await queuesOf(db, shard, tenant, definitionKey);
  if (queues.length === 0) return { entries: [], reached: null };
  const seenMax = errorCode === null && q === null ? limit + 1 : SEEN_MAX;
  const cursor = [after?.at ?? null, after?.id ?? null];
  const values = [
    shard,
    queues,
    from,
    to,
    ...cursor,
    seenMax,
    errorCode,
    fingerprint,
    q,
    limit + 1,
  ];
  const [row] = await db.run(fingerprint === null ? SEARCH : SEARCH_GROUP, values);
  if (!row) return { entries: [], reached: null };
  if (row.letters.length > limit) return firstOf(row.letters, limit);
  return { entries: row.letters, reached: row.seen === seenMax ? row.last : null };
}

/** The texts are all in UTC, so they compare as the times do. */
function latestFirst(a: DeadLetterCursor, b: DeadLetterCursor): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}
