import { BackOff } from './quiet.ts';

/**
 * Which shards are quiet, as the lookout has found. All loops of a scheduler leave a quiet shard
 * alone most of the time (`sparing` of `scheduler/shard-order.ts`).
 */
export class QuietShards {
  readonly #pauses: BackOff[];

  /** The pauses of the lookout; with equal ones no shard is ever quiet. */
  constructor(shards: number, pollMs: number, quietMs: number) {
    this.#pauses = Array.from({ length: shards }, () => new BackOff(pollMs, quietMs));
  }

  isQuiet(shard: number): boolean {
    return this.#pauses[shard]?.isQuiet ?? false;
  }

  /** After a look at a shard; returns the pause before the next one. */
  looked(shard: number, found: boolean): number {
    return this.#pauses[shard]?.after(found) ?? 0;
  }

  /** Something happens there. Returns whether the lookout may be in a long pause. */
  stir(shard: number): boolean {
    return this.#pauses[shard]?.reset() ?? false;
  }
}
