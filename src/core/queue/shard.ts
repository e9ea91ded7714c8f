import { fnv1a } from '../values/hash.ts';

/**
 * A queue is stored in one shard, the same for every version of a definition, so an idempotency
 * key, whose scope is tenant and definition, is decided within one shard.
 */
export function homeShard(tenant: string, definitionKey: string, shards: number): number {
  return fnv1a(`${tenant}\n${definitionKey}`) % shards;
}
