import type { DeadLetterView } from '../../core/failure/dead-letter.ts';
import type { Db, Queryable, Statement } from '../connection/db.ts';
import { statement } from '../connection/db.ts';
import { ANY_JOB } from '../../core/job/job-criteria.ts';
import { narrow, type Narrowed } from '../../core/search/narrow.ts';
import { locate, needsSearch } from './search-queues.ts';
import { containsAll, errorText, hasDigits } from './searchable.ts';
import { firstOf, mergeWalks, viewWalk, type Walk } from './walk.ts';

/**
 * Dead letters by the time of failure, latest first. Each queue is read from its own index and the
 * results are merged. A group (fingerprint) has an index; other criteria are checked on a bounded
 * number of rows, so a page can be short without being the last one.
 */
export interface DeadLetterSearch {
  tenant: string;
  definitionKey: string | null;
  errorCode: string | null;
  fingerprint: string | null;
  /** From this time (inclusive) to `to` (exclusive). */
  from: Date | null;
  to: Date | null;
  q: string | null;
  after: DeadLetterCursor | null;
  limit: number;
}

/**
 * A position in the order of failure. The time has microseconds, so it stays the text of the
 * database, in UTC.
 */
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
        select f.id, f.queue, f.finished_at, f.error_code, f.fingerprint, f.worker,
          case when cardinality($10::text[]) > 0 then ${errorText('f.error_code', 'f.error')} end
            as said
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
        and ($13::text is null or starts_with(s.worker::text, $13))
        and ${hasDigits('s.id', '$14')}
        and (cardinality($10::text[]) + cardinality($12::text[]) = 0 or exists (
          select 1 from longshore.job j
          join lateral (
            select key from longshore.queue where shard = $1 and queue = s.queue limit 1
          ) l on true
          where j.shard = $1 and j.id = s.id
            and (cardinality($12::text[]) = 0 or j.tags @> $12)
            and ${containsAll('$10', ['s.said'])}))
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

/** Maximum number of dead letters read for one page, when criteria have no index. */
const SEEN_MAX = 5_000;

export async function searchDeadLetters(
  db: Db,
  wanted: DeadLetterSearch,
): Promise<{ jobs: DeadLetterView[]; next: DeadLetterCursor | null }> {
  const narrowed = narrow(criteriaOf(wanted));
  if (narrowed === null) return { jobs: [], next: null };
  const found: DeadLetterWalk[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    found.push(await walk(db, shard, wanted, narrowed));
  }
  const page = mergeWalks(found, latestFirst, wanted.limit);
  const prints = new Map(page.entries.map(({ id, fingerprint }) => [id, fingerprint]));
  const { views, next } = await viewWalk(db, wanted.tenant, page);
  // A job that was retried meanwhile is no longer a dead letter.
  const jobs = views
    .filter(({ status }) => status === 'failed')
    .map((view) => ({ ...view, fingerprint: prints.get(view.jobId) ?? null }));
  return { jobs, next: next && { at: next.at, id: next.id } };
}

type DeadLetterWalk = Walk<Seen['letters'][number], DeadLetterCursor>;

/** The part of a search that jobs have in common with dead letters. */
export function criteriaOf({
  definitionKey,
  errorCode,
  q,
}: Pick<DeadLetterSearch, 'definitionKey' | 'errorCode' | 'q'>) {
  return { ...ANY_JOB, statuses: ['failed' as const], definitionKey, errorCode, q };
}

async function walk(
  db: Queryable,
  shard: number,
  { tenant, fingerprint, from, to, after, limit }: DeadLetterSearch,
  narrowed: Narrowed,
): Promise<DeadLetterWalk> {
  const { queues, criteria, filter } = await locate(db, shard, tenant, narrowed);
  if (queues.length === 0) return { entries: [], reached: null };
  const { errorCode, tag } = criteria;
  const tags = tag === null ? filter.tags : [tag, ...filter.tags];
  const isPlain = errorCode === null && tag === null && !needsSearch(filter);
  const seenMax = isPlain ? limit + 1 : SEEN_MAX;
  const place = [shard, queues, from, to, after?.at ?? null, after?.id ?? null, seenMax];
  const { words, worker, id } = filter;
  const values = [...place, errorCode, fingerprint, words, limit + 1, tags, worker, id];
  const [row] = await db.run(fingerprint === null ? SEARCH : SEARCH_GROUP, values);
  if (!row) return { entries: [], reached: null };
  if (row.letters.length > limit) return firstOf(row.letters, limit);
  return { entries: row.letters, reached: row.seen === seenMax ? row.last : null };
}

/** All texts are in UTC, so they compare like the times. */
function latestFirst(a: DeadLetterCursor, b: DeadLetterCursor): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}
