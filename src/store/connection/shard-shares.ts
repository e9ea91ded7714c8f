/**
 * Keeps connections of a pool for shards that answer. Calls about one shard hold at most half of
 * the connections. A shard whose last call found the database unavailable gets one connection at a time, and
 * all such shards together half of them, until a call succeeds.
 */
export class ShardShares {
  readonly #half: number;
  readonly #patienceMs: number;
  readonly #isUnavailable: (error: unknown) => boolean;
  readonly #inside = new Map<number, number>();
  readonly #failing = new Set<number>();
  #waiting: { shard: number; enter: () => void }[] = [];

  constructor(connections: number, patienceMs: number, isUnavailable: (error: unknown) => boolean) {
    this.#half = Math.max(1, Math.floor(connections / 2));
    this.#patienceMs = patienceMs;
    this.#isUnavailable = isUnavailable;
  }

  async run<T>(shard: number, work: () => Promise<T>): Promise<T> {
    if (this.#hasRoom(shard)) this.#enter(shard);
    else await this.#wait(shard);
    try {
      const result = await work();
      this.#failing.delete(shard);
      return result;
    } catch (error) {
      if (this.#isUnavailable(error)) this.#failing.add(shard);
      throw error;
    } finally {
      this.#leave(shard);
    }
  }

  #hasRoom(shard: number): boolean {
    const inside = this.#inside.get(shard) ?? 0;
    if (!this.#failing.has(shard)) return inside < this.#half;
    let failing = 0;
    for (const one of this.#failing) failing += this.#inside.get(one) ?? 0;
    return inside === 0 && failing < this.#half;
  }

  #enter(shard: number): void {
    this.#inside.set(shard, (this.#inside.get(shard) ?? 0) + 1);
  }

  #leave(shard: number): void {
    this.#inside.set(shard, (this.#inside.get(shard) ?? 1) - 1);
    for (const one of this.#waiting) if (this.#hasRoom(one.shard)) one.enter();
  }

  async #wait(shard: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
      };
      const waiting = {
        shard,
        enter: () => {
          stop();
          this.#enter(shard);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`timeout exceeded: shard ${shard} does not answer`));
      }, this.#patienceMs);
      this.#waiting.push(waiting);
    });
  }
}
