/**
 * A queue is stored in one shard, the same for every version of a definition, so an idempotency
 * key, whose scope is tenant and definition, is decided within one shard. FNV-1a, because the
 * result must never change between releases or languages.
 */
export function homeShard(tenant: string, definitionKey: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${tenant}\n${definitionKey}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash % shards;
}
