import type { JobCriteria } from '../../core/job/job-criteria.ts';
import { matchDefinitions, needsDefinitions } from '../../core/search/match-definitions.ts';
import type { Narrowed } from '../../core/search/narrow.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** The queues of a definition, or of all. System queues are found by name only. */
const QUEUES = statement<{ queue: number }>(
  'queues_of',
  `select queue from longshore.queue
   where shard = $1 and tenant = $2 and case when $3::text is null then left(key, 1) <> '$'
     else key = $3 end`,
);

export async function queuesOf(
  db: Queryable,
  shard: number,
  tenant: string,
  definitionKey: string | null,
): Promise<number[]> {
  return (await db.run(QUEUES, [shard, tenant, definitionKey])).map(({ queue }) => queue);
}

export interface KnownQueue {
  shard: number;
  queue: number;
  key: string;
  owner: string | null;
}

/**
 * All queues of a tenant with the owner of their definition. A queue of version 0 has no definition
 * yet; its owner is that of the newest one.
 */
const KNOWN = statement<KnownQueue>(
  'known_queues',
  `select q.shard, q.queue, q.key, d.owner from longshore.queue q
   left join lateral (
     select info ->> 'owner' as owner from longshore.definition d
     where d.key = q.key order by d.version = q.version desc, d.version desc limit 1
   ) d on true
   where q.tenant = $1`,
);

export async function knownQueues(db: Queryable, tenant: string): Promise<KnownQueue[]> {
  return await db.run(KNOWN, [tenant]);
}

/** Criteria whose filters of definitions have become queues. */
export interface Located {
  queues: number[];
  criteria: JobCriteria;
  filter: JobSearch;
}

/** The part of a search that is checked on each job. */
export interface JobSearch {
  words: readonly string[];
  tags: readonly string[];
  /** The beginning or the end of the id, as hex digits. */
  id: string | null;
  worker: string | null;
}

export async function locate(
  db: Queryable,
  shard: number,
  tenant: string,
  { criteria, search }: Narrowed,
): Promise<Located> {
  const { tags, id, worker } = search;
  if (!needsDefinitions(search)) {
    const queues = await queuesOf(db, shard, tenant, criteria.definitionKey);
    const words = search.words.map(({ text }) => text);
    return { queues, criteria, filter: { words, tags, id, worker } };
  }
  const { definitionKey } = criteria;
  const named = [definitionKey, ...search.definitions].some((key) => key?.startsWith('$'));
  const known = (await knownQueues(db, tenant)).filter(({ key }) => named || !key.startsWith('$'));
  const { matches, words } = matchDefinitions(search, known);
  const queues = known
    .filter((one) => one.shard === shard && matches(one))
    .filter(({ key }) => definitionKey === null || key === definitionKey)
    .map(({ queue }) => queue);
  return { queues, criteria, filter: { words, tags, id, worker } };
}

export function needsSearch({ words, tags, id, worker }: JobSearch): boolean {
  return words.length > 0 || tags.length > 0 || id !== null || worker !== null;
}
