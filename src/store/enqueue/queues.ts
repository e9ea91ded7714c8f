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

/** The function finds the queue, or creates it with the queue of its hooks. Nothing else creates queues. */
const FIND_OR_CREATE_QUEUE = statement<{ queue: number }>(
  'find_or_create_queue',
  `select queue from longshore.find_or_create_queue(
     of_shard => $1, of_key => $2, of_version => $3, of_tenant => $4)`,
);

/** A queue that a worker serves, with the limiters that its claims pass. */
export interface ServedQueue extends Queue {
  limiters: string[];
  /** Of its tenant: its share of the claims. */
  weight: number;
  /** The moves of its jobs that somebody listens to. */
  told: JobState[];
}

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

/** A queue never changes its number, so each process asks for it once. */
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
    const queue = await findOrCreateQueue(this.#db, shard, key, version, tenant);
    const found = { shard, queue, tenant, key, version };
    this.#known.set(name, found);
    return found;
  }
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
