import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { HOOK_PREFIX } from '../../core/definition/hooks.ts';
import type { JobState } from '../../core/job/job.ts';
import { homeShard } from '../../core/queue/shard.ts';
import { ranksOf } from '../claim/find-levels.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { ONCE_PER_ROW } from '../connection/planner.ts';

/** The jobs of one definition version of one tenant. */
export interface Queue {
  shard: number;
  queue: number;
  tenant: string;
  key: string;
  version: number;
}

/** Finds the queue, or creates it with the queue of its hooks. Only this function creates queues. */
const FIND_OR_CREATE_QUEUE = statement<{ queue: number }>(
  'find_or_create_queue',
  `select queue from longshore.find_or_create_queue(
     of_shard => $1, of_key => $2, of_version => $3, of_tenant => $4)`,
);

/** A queue that a worker serves, with the limiters that its claims pass. */
export interface ServedQueue extends Queue {
  limiters: string[];
  /** The tenant's share of the claims. */
  weight: number;
  /** The states whose events a webhook subscribes to. */
  subscribedStates: JobState[];
  /** Changes with each change of the secrets of its jobs; null: they have none. */
  secretsMark: string | null;
  /** The ranks that have claimable jobs. */
  ranks: number[];
}

/** The queues of some definitions, of all tenants that may use them, and where they have work. */
const SERVED_QUEUES = statement<ServedQueue>(
  'served_queues',
  `select l.shard, l.queue, l.tenant, l.key, l.version,
     array_remove(array[l.definition_limiter, l.tenant_limiter], null)::text[] as limiters,
     coalesce((select t.weight from longshore.tenant t where t.name = l.tenant), 1)::int as weight,
     coalesce(l.subscribed_states, '{}')::text[] as "subscribedStates",
     case when l.key !~ '^\\$(?!hook:)' then (
       select md5(string_agg(s.id::text, ',' order by s.id)) from longshore.secret s
       where s.tenant = l.tenant and s.key = any (array['*', replace(l.key, '${HOOK_PREFIX}', '')])
     ) end as "secretsMark",
     array(${ranksOf('l.queue')}) as ranks
   from jsonb_to_recordset($2::jsonb) as d(key text, version int)
   cross join lateral (
     select * from longshore.queue l
     where l.shard = $1 and l.key = d.key and l.version = d.version and l.paused_at is null
     ${ONCE_PER_ROW}
   ) l
   left join longshore.definition n
     on n.key = replace(d.key, '${HOOK_PREFIX}', '') and n.version = d.version
   where coalesce(n.tenant, '${DEFAULT_TENANT}') in ('${DEFAULT_TENANT}', l.tenant)`,
);

export async function servedQueues(
  db: Queryable,
  shard: number,
  definitions: readonly { key: string; version: number }[],
): Promise<ServedQueue[]> {
  const wanted = definitions.map(({ key, version }) => ({ key, version }));
  return await db.run(SERVED_QUEUES, [shard, JSON.stringify(wanted)]);
}

/** A cache: the number of a queue never changes. */
export class Queues {
  readonly #db: Queryable;
  /** By shard. */
  readonly #known: Map<string, Queue>[];

  constructor(db: Queryable, shards: number) {
    this.#db = db;
    this.#known = Array.from({ length: shards }, () => new Map());
  }

  /** A queue that was resolved before. */
  known(tenant: string, key: string, version: number, shard: number): Queue | undefined {
    return this.#known[shard]?.get(nameOf(tenant, key, version));
  }

  async resolve(
    tenant: string,
    key: string,
    version: number,
    shard = homeShard(tenant, key, this.#known.length),
  ): Promise<Queue> {
    const known = this.known(tenant, key, version, shard);
    if (known) return known;
    const queue = await findOrCreateQueue(this.#db, shard, key, version, tenant);
    const found = { shard, queue, tenant, key, version };
    this.#known[shard]?.set(nameOf(tenant, key, version), found);
    return found;
  }
}

function nameOf(tenant: string, key: string, version: number): string {
  return `${tenant}\n${key}\n${version}`;
}

export async function findOrCreateQueue(
  db: Queryable,
  shard: number,
  key: string,
  version: number,
  tenant: string,
): Promise<number> {
  const [row] = await db.run(FIND_OR_CREATE_QUEUE, [shard, key, version, tenant]);
  if (!row) throw new Error(`no queue could be created for ${key}@${version}`);
  return row.queue;
}
