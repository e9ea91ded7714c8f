import type { Finished, OutcomeWriter, Written } from '../worker/attempt/outcome-writer.ts';
import type { RoundOutbox } from '../worker/claim/work-queue.ts';

/** After a cancel request the decision is made again; a third change cannot happen. */
const TRIES_MAX = 3;

/**
 * The outcomes of one call. A round takes them like those of a local worker, and what became of
 * each is kept for the answer. What could not be written is not kept: the remote worker sends it
 * again.
 */
export class TurnOutcomes implements RoundOutbox {
  readonly results = new Map<Finished, Written>();
  readonly #writer: OutcomeWriter;
  /** By the item of the call: a second try is a copy of it. */
  readonly #origin = new Map<Finished, Finished>();
  #left: Finished[] = [];

  constructor(writer: OutcomeWriter) {
    this.#writer = writer;
  }

  async write(shard: number, batch: readonly Finished[]): Promise<void> {
    if (batch.length > 0) this.conclude(shard, batch, await this.#writer.write(shard, batch));
  }

  putBack(_shard: number, batch: readonly Finished[]): void {
    this.#left.push(...batch);
  }

  conclude(
    _shard: number,
    batch: readonly Finished[],
    results: ReadonlyMap<Finished, Written> | null,
  ): void {
    for (const item of batch) {
      const what = results === null ? 'written' : (results.get(item) ?? 'unknown');
      const origin = this.#origin.get(item) ?? item;
      if (item.decided) origin.decided = item.decided;
      this.results.set(origin, what);
      if (typeof what !== 'object') continue;
      item.execution.state = what.owned;
      const again = { ...item, refused: true };
      this.#origin.set(again, origin);
      this.#left.push(again);
    }
  }

  /** Writes what a round had to leave. */
  async finish(shard: number): Promise<void> {
    for (let tries = 0; this.#left.length > 0 && tries < TRIES_MAX; tries += 1) {
      await this.write(shard, this.#left.splice(0));
    }
  }
}
