import { HOOK_PREFIX } from '../../core/definition/hooks.ts';
import type { JobState } from '../../core/job/job.ts';
import { homeShard } from '../../core/queue/shard.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { ONCE_PER_ROW } from '../connection/planner.ts';

/** Where the jobs of one definition version of one tenant wait. */
export interface Queue {
  shard: number;
  queue: number;
  tenant: string;
  key: string;
  version: number;
}

/** A queue counts as made when the one beside it, where its hooks wait, is made as well. */
const FIND_QUEUE = statement<{ queue: number }>(
  'find_queue',
  `select l.queue from longshore.queue l
   where l.shard = $1 and l.key = $2 and l.version = $3 and l.tenant = $4
     and exists (
       select 1 from longshore.queue h
       where h.shard = $1 and h.key = '${HOOK_PREFIX}' || l.key and h.version = l.version
         and h.tenant = l.tenant)`,
);

/** A queue that a worker serves, with the limiters that its claims pass. */
export interface ServedQueue extends Queue {
  limiters: string[];
  /** Of its tenant: its share of the claims. */
  weight: number;
  /** The moves of its jobs that somebody listens to. */
  told: JobState[];
}

/** Since when something that a queue `l` belongs to is paused. Hooks belong to what has ended already. */
export const PAUSED_SINCE = `(
    select min(p.paused_at) from longshore.pause p
    where p.scope = 'all' or (p.scope = 'tenant' and p.name = l.tenant)
      or (p.scope = 'definition' and p.name = l.key))`;

/**
 * Makes both, or the one that is missing. The numbers are the next free ones. Two makers of one
 * number collide on the key, and one of them looks again. Limits, pauses and webhooks hold from the
 * start; the small jobs of hooks are not limited.
 */
const MAKE_QUEUES = statement<{ queue: number }>(
  'make_queues',
  `insert into longshore.queue (shard, queue, key, version, tenant, paused_at, definition_limiter, tenant_limiter, keyed,
     told)
   select $1, top.queue + l.n, l.key, $3, $4, ${PAUSED_SINCE},
     case when num_nonnulls(d.lim, d.rate, d.key_rate) > 0 then d.limiter end,
     case when t.lim is not null then t.limiter end, num_nonnulls(d.key_lim, d.key_rate) > 0,
     longshore.subscribed_states(l.tenant, l.key)
   from (select coalesce(max(queue), 0) as queue from longshore.queue where shard = $1) top
   cross join (
     values (1, $2, $4), (2, '${HOOK_PREFIX}' || $2, $4)
   ) as l(n, key, tenant)
   left join longshore.limiter d
     on d.shard = $1 and d.limiter = longshore.limiter_of('definition', $2) and l.n = 1
   left join longshore.limiter t
     on t.shard = $1 and t.limiter = longshore.limiter_of('tenant', $4) and l.n = 1
   on conflict do nothing
   returning queue`,
);

/** The queues of some definitions, of all tenants: what a worker that has their code serves. */
const SERVED_QUEUES = statement<ServedQueue>(
  'served_queues',
  `select l.shard, l.queue, l.tenant, l.key, l.version,
     array_remove(array[l.definition_limiter, l.tenant_limiter], null)::text[] as limiters,
     coalesce((select t.weight from longshore.tenant t where t.name = l.tenant), 1)::int as weight,
     coalesce(l.told, '{}')::text[] as told
   from jsonb_to_recordset($2::jsonb) as d(key text, version int)
   cross join lateral (
     select * from longshore.queue l
     where l.shard = $1 and l.key = d.key and l.version = d.version and l.paused_at is null
     ${ONCE_PER_ROW}
   ) l`,
);

export async function servedQueues(
  db: Queryable,
  shard: number,
  definitions: readonly { key: string; version: number }[],
): Promise<ServedQueue[]> {
  const wanted = definitions.map(({ key, version }) => ({ key, version }));
  return await db.run(SERVED_QUEUES, [shard, JSON.stringify(wanted)]);
}

/** Queues are made on first use and never change their number, so one look per process is enough. */
export class Queues {
  readonly #db: Queryable;
  readonly #shards: number;
  readonly #known = new Map<string, Queue>();

  constructor(db: Queryable, shards: number) {
    this.#db = db;
    this.#shards = shards;
  }

  async resolve(tenant: string, key: string, version: number): Promise<Queue> {
    const name = `${tenant}\n${key}\n${version}`;
    const known = this.#known.get(name);
    if (known) return known;
    const shard = homeShard(tenant, key, this.#shards);
    const queue = await findOrMakeQueue(this.#db, shard, key, version, tenant);
    const found = { shard, queue, tenant, key, version };
    this.#known.set(name, found);
    return found;
  }
}

export async function findOrMakeQueue(
  db: Queryable,
  shard: number,
  key: string,
  version: number,
  tenant: string,
): Promise<number> {
  const values = [shard, key, version, tenant];
  for (let tries = 0; tries < 100; tries += 1) {
    const found = (await db.run(FIND_QUEUE, values))[0];
    if (found) return found.queue;
    await db.run(MAKE_QUEUES, values);
  }
  throw new Error(`no queue could be made for ${key}@${version}`);
}
