import type { SearchValues } from '../../core/search/complete.ts';
import { type Db, statement } from '../connection/db.ts';
import { knownQueues } from './search-queues.ts';

/** Tags of the newest jobs of each queue. */
const TAGS = statement<{ value: string; n: number }>(
  'recent_tags',
  `select t.tag as value, count(*)::int as n from unnest($2::int[]) as l(queue)
   cross join lateral (
     select tags from longshore.job
     where shard = $1 and queue = l.queue order by id desc limit $3
   ) j
   cross join unnest(j.tags) as t(tag)
   group by 1 order by 2 desc, 1 limit $4`,
);

/** Codes of the newest dead letters of each queue. */
const CODES = statement<{ value: string; n: number }>(
  'recent_codes',
  `select f.error_code as value, count(*)::int as n from unnest($2::int[]) as l(queue)
   cross join lateral (
     select error_code from longshore.done
     where shard = $1 and queue = l.queue and state = 'failed' and error_code is not null
     order by finished_at desc, id desc limit $3
   ) f
   group by 1 order by 2 desc, 1 limit $4`,
);

/** Jobs that are read, and values that are returned, at most. */
const PASSED_MAX = 5_000;
const VALUES_MAX = 200;

/** Names to complete a search with. */
export async function searchValues(db: Db, tenant: string): Promise<SearchValues> {
  const known = (await knownQueues(db, tenant)).filter(({ key }) => !key.startsWith('$'));
  const each = Math.max(1, Math.min(500, Math.floor(PASSED_MAX / Math.max(1, known.length))));
  const codes = new Map<string, number>();
  const tags = new Map<string, number>();
  for (const [shard, own] of Map.groupBy(known, (one) => one.shard)) {
    const values = [shard, own.map(({ queue }) => queue), each, VALUES_MAX];
    for (const { value, n } of await db.run(CODES, values)) add(codes, value, n);
    for (const { value, n } of await db.run(TAGS, values)) add(tags, value, n);
  }
  return {
    definitions: sorted(known.map(({ key }) => key)),
    owners: sorted(known.flatMap(({ owner }) => owner ?? [])),
    codes: frequent(codes),
    tags: frequent(tags),
  };
}

function add(counts: Map<string, number>, value: string, n: number): void {
  counts.set(value, (counts.get(value) ?? 0) + n);
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

function frequent(counts: ReadonlyMap<string, number>): string[] {
  const all = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return all.slice(0, VALUES_MAX).map(([value]) => value);
}
