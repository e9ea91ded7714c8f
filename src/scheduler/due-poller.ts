import type { Clock } from '../runtime/clock.ts';
import type { Service } from '../runtime/service.ts';
import { ShardPollers, type ShardPollersOptions } from '../runtime/shard-pollers.ts';

/**
 * One loop per shard that sleeps until the next known due time. A hint of an earlier time ends the
 * sleep; all others are ignored, so that many hints cost few rounds.
 */
export class DuePoller implements Service {
  readonly name: string;
  readonly #pollers: ShardPollers;
  readonly #clock: Clock;
  readonly #nextAtMs: number[];

  constructor(clock: Clock, options: ShardPollersOptions) {
    this.name = options.name;
    this.#clock = clock;
    this.#nextAtMs = Array.from({ length: options.shards }, () => Number.NEGATIVE_INFINITY);
    this.#pollers = new ShardPollers({
      ...options,
      tick: async (shard, signal) => {
        // A hint during a round may be about a row that the round did not see.
        this.#nextAtMs[shard] = Infinity;
        const delayMs = await options.tick(shard, signal);
        this.#nextAtMs[shard] = clock.monotonicMs() + delayMs;
        return delayMs;
      },
    });
  }

  /** Something is due then, in this shard or in an unknown one. */
  hint(inMs: number, inShard: number | null = null): void {
    const atMs = this.#clock.monotonicMs() + inMs;
    for (const [shard, nextAtMs] of this.#nextAtMs.entries()) {
      if (inShard !== null && shard !== inShard) continue;
      if (atMs < nextAtMs) this.#pollers.wake(shard);
    }
  }

  pollSoon(): void {
    for (const shard of this.#nextAtMs.keys()) this.#pollers.wake(shard);
  }

  async start(): Promise<void> {
    await this.#pollers.start();
  }

  async stop(): Promise<void> {
    await this.#pollers.stop();
  }
}
