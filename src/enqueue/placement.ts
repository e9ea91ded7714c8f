import type { NewJob } from '../core/job/new-job.ts';
import { timeOfJobId } from '../core/job/job-id.ts';
import { homeShard } from '../core/queue/shard.ts';
import { keyShard, newestSpread, spreadAt, spreadShard } from '../core/shards/spread.ts';
import { storedKey } from '../core/job/unique.ts';
import { canonicalSha } from '../store/enqueue/key-holders.ts';
import type { Spreads } from '../store/enqueue/spreads.ts';

/** What of a job decides where it is stored (`core/shards/spread.ts`). */
export type PlacedJob = Pick<
  NewJob,
  | 'tenant'
  | 'definitionKey'
  | 'paramsJson'
  | 'idempotencyKey'
  | 'idempotencyScope'
  | 'requestId'
  | 'concurrencyKey'
  | 'unique'
>;

export interface Placement {
  shard: number;
  /** Of the row of its idempotency key. */
  keyShard: number;
  /** Of the row of its unique key. */
  uniqueShard: number;
}

/** With one shard there is nothing to decide. */
export const ONLY_PLACE: Placement = { shard: 0, keyShard: 0, uniqueShard: 0 };

/** Where a job is stored. `nowMs`: for a job without any key. */
export function placeOf(
  job: PlacedJob,
  { byKey }: Spreads,
  nowMs: number,
  shards: number,
): Placement {
  const { tenant, definitionKey, concurrencyKey, unique, idempotencyKey, requestId } = job;
  const home = homeShard(tenant, definitionKey, shards);
  const uniqueShard = unique ? ofUniqueKey(job, unique.key, shards) : home;
  const free = () => {
    const steps = byKey.get(definitionKey);
    if (!steps) return home;
    if (idempotencyKey !== null || requestId === null) {
      return spreadShard(home, newestSpread(steps), nowMs, shards);
    }
    const madeMs = timeOfJobId(requestId);
    return spreadShard(home, spreadAt(steps, madeMs), madeMs, shards);
  };
  const shard =
    concurrencyKey !== null
      ? keyShard('concurrency', [tenant, definitionKey, concurrencyKey], shards)
      : unique
        ? uniqueShard
        : free();
  return { shard, keyShard: ofIdempotencyKey(job, home, shard, shards), uniqueShard };
}

/**
 * A key that counts for a whole tenant must be in one place for all its definitions. A request id that
 * becomes a key is in the shard of its job, which follows from the request.
 */
function ofIdempotencyKey(job: PlacedJob, home: number, shard: number, shards: number): number {
  const { tenant, idempotencyKey, idempotencyScope } = job;
  if (idempotencyKey === null) return shard;
  return idempotencyScope === 'definition' ? home : homeShard(tenant, idempotencyKey, shards);
}

function ofUniqueKey(
  { tenant, definitionKey, paramsJson }: PlacedJob,
  key: string | null,
  shards: number,
): number {
  const stored = storedKey(key, key === null ? canonicalSha(paramsJson) : '');
  return keyShard('unique', [tenant, definitionKey, stored], shards);
}
