import type { Clock } from '../../runtime/clock.ts';
import type { Execution } from '../attempt/execution.ts';

export interface SlotsOptions {
  size: number;
  clock: Clock;
  /** Runs one job to its end. Never rejects. */
  run(execution: Execution): Promise<void>;
  /** Jobs that were claimed but will not start here soon. */
  giveBack(executions: Execution[]): void;
}

/** So much work may be claimed ahead, by what jobs took lately; a longer job claims none. */
const AHEAD_MS = 20;
const AHEAD_MAX = 1_000;
const WEIGHT = 0.05;
/** So long a claim may take before the room that it was promised is lent to others. */
const SLOW_CLAIM_MS = 500;
/** When nothing could start for this long, the guess was wrong and what waits is given back. */
const PATIENCE_MS = 50;

/**
 * What a worker runs at the same time. Jobs that take less than a round trip to the database would
 * leave their slots empty most of the time, so a worker whose jobs are that quick claims a few
 * milliseconds of work ahead. Such a job waits here for a moment at most: if a slow one gets in the
 * way, those behind it go back to the queue, uncharged, and others can have them.
 */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #waiting: Execution[] = [];
  #busy = 0;
  #promised = 0;
  #averageMs = Number.POSITIVE_INFINITY;
  #impatience: NodeJS.Timeout | undefined;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** How many more jobs may be claimed now. */
  get room(): number {
    const { size } = this.#options;
    const ahead = Math.min(AHEAD_MAX, Math.floor((size * AHEAD_MS) / this.#averageMs));
    const taken = this.#busy + this.#waiting.length + this.#promised;
    return size - taken + (this.#averageMs < AHEAD_MS / 2 ? ahead : 0);
  }

  /** Whether a job would start at once. */
  get open(): boolean {
    return this.#waiting.length === 0 && this.#busy + this.#promised < this.#options.size;
  }

  /**
   * A claim under way may bring this many. Answers how to learn what is left of the promise when it
   * is there. With `onLent`, the room of a slow claim is for others after a while: what it brings then
   * starts if there is room, or is given back.
   */
  promise(count: number, onLent: (() => void) | null): () => number {
    this.#promised += count;
    if (!onLent || count === 0) return () => count;
    let left = count;
    const timer = setTimeout(() => {
      left = 0;
      this.accept([], count);
      onLent();
    }, SLOW_CLAIM_MS);
    return () => {
      clearTimeout(timer);
      return left;
    };
  }

  accept(executions: readonly Execution[], promised: number): void {
    this.#promised -= promised;
    this.#waiting.push(...executions);
    this.#start();
  }

  /** Takes out what has not started, of all shards or of one. */
  drop(shard?: number): Execution[] {
    const waiting = this.#waiting.splice(0);
    if (shard !== undefined) this.#waiting.push(...waiting.filter((one) => one.shard !== shard));
    if (this.#waiting.length === 0) clearTimeout(this.#impatience);
    return shard === undefined ? waiting : waiting.filter((one) => one.shard === shard);
  }

  #start(): void {
    const { size, giveBack } = this.#options;
    while (this.#busy < size) {
      const execution = this.#waiting.shift();
      if (!execution) break;
      this.#busy += 1;
      void this.#run(execution);
    }
    clearTimeout(this.#impatience);
    if (this.#waiting.length === 0) return;
    this.#impatience = setTimeout(() => {
      this.#averageMs = Number.POSITIVE_INFINITY;
      giveBack(this.drop());
    }, PATIENCE_MS);
  }

  async #run(execution: Execution): Promise<void> {
    const { clock, run } = this.#options;
    const startMs = clock.monotonicMs();
    await run(execution);
    const tookMs = Math.max(0.01, clock.monotonicMs() - startMs);
    const known = Number.isFinite(this.#averageMs);
    this.#averageMs = known ? this.#averageMs + (tookMs - this.#averageMs) * WEIGHT : tookMs;
    this.#busy -= 1;
    this.#start();
  }
}
