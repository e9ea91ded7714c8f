import { Poller, type PollerOptions, shardName } from './poller.ts';
import type { Service } from './service.ts';

export interface ShardPollersOptions extends Omit<PollerOptions, 'tick'> {
  shards: number;
  /** One round for one shard. */
  tick(shard: number, signal: AbortSignal): Promise<number>;
}

/** One loop per shard: a shard that fails or is slow does not delay the others. */
export class ShardPollers implements Service {
  readonly name: string;
  readonly #pollers: Poller[];

  constructor({ shards, tick, ...options }: ShardPollersOptions) {
    this.name = options.name;
    this.#pollers = Array.from({ length: shards }, (_, shard) => {
      const name = shardName(options.name, shard, shards);
      return new Poller({ ...options, name, tick: async (signal) => await tick(shard, signal) });
    });
  }

  wake(shard: number): void {
    this.#pollers[shard]?.wake();
  }

  async start(): Promise<void> {
    for (const poller of this.#pollers) await poller.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#pollers.map(async (poller) => await poller.stop()));
  }
}

/** Runs the work for every shard in parallel, each to its end; then throws the first failure. */
export async function eachShard(
  shards: Iterable<number>,
  work: (shard: number) => Promise<void>,
): Promise<void> {
  await allOf([...shards].map((shard) => async () => await work(shard)));
}

/** Runs all in parallel, each to its end; then throws the first failure. */
export async function allOf(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const ends = await Promise.allSettled(works.map(async (work) => await work()));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
