import type { Clock } from '../../runtime/clock.ts';
import type { Execution } from '../attempt/execution.ts';

export interface SlotsOptions {
  size: number;
  clock: Clock;
  /** Starts one job. It calls `ended` when the slot is free again, maybe before it returns. */
  run(execution: Execution): void;
  /** Releases jobs that were claimed but will not start here soon. */
  returnJobs(executions: Execution[]): void;
  /** No slot is free. */
  onFull?(): void;
}

/** Slots that are kept for the jobs of one round. */
export interface Reservation {
  accept(executions: readonly Execution[]): void;
  /** Frees what is left. */
  end(): void;
}

/** How much work may be claimed ahead, by recent run times; longer jobs are not claimed ahead. */
const AHEAD_MS = 20;
const AHEAD_MAX = 1_000;
const WEIGHT = 0.05;
/** A claim slower than this lends its reserved slots to others. */
const SLOW_CLAIM_MS = 500;
/** When nothing could start for this long, waiting jobs are returned. */
const PATIENCE_MS = 50;

/**
 * The slots of a worker, and the claimed jobs that wait for one. Jobs shorter than a database round trip would leave their slots
 * idle most of the time, so a worker with such jobs claims a few milliseconds of work ahead. If a
 * slow job gets in the way, the jobs behind it are returned without using an attempt, and others
 * can claim them.
 */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #waiting: Execution[] = [];
  #busy = 0;
  #promised = 0;
  #averageMs = Number.POSITIVE_INFINITY;
  #impatience: NodeJS.Timeout | undefined;
  #starting = false;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** How many more jobs may be claimed now. */
  get room(): number {
    return this.capacity - (this.#busy + this.#waiting.length + this.#promised);
  }

  /** How many jobs may be here at once, with those that are claimed ahead. */
  get capacity(): number {
    const { size } = this.#options;
    const ahead = Math.min(AHEAD_MAX, Math.floor((size * AHEAD_MS) / this.#averageMs));
    return size + (this.#averageMs < AHEAD_MS / 2 ? ahead : 0);
  }

  /**
   * Reserves room for a round in flight, whose parts bring jobs one after the other. With `onLent`,
   * what is left of a slow round is lent to others after a while: its jobs start if there is room,
   * or are returned.
   */
  promise(count: number, onLent: (() => void) | null): Reservation {
    this.#promised += count;
    let left = count;
    const give = (most: number) => {
      const given = Math.min(left, most);
      left -= given;
      return given;
    };
    const timer =
      onLent && count > 0
        ? setTimeout(() => {
            this.accept([], give(count));
            onLent();
          }, SLOW_CLAIM_MS)
        : undefined;
    return {
      accept: (executions) => this.accept(executions, give(executions.length)),
      end: () => {
        clearTimeout(timer);
        this.accept([], give(count));
      },
    };
  }

  accept(executions: readonly Execution[], promised: number): void {
    this.#promised -= promised;
    this.#waiting.push(...executions);
    this.#start();
  }

  /** The slot of this job is free. */
  ended(execution: Execution): void {
    const tookMs = Math.max(0.01, this.#options.clock.monotonicMs() - execution.slotMs);
    const known = Number.isFinite(this.#averageMs);
    this.#averageMs = known ? this.#averageMs + (tookMs - this.#averageMs) * WEIGHT : tookMs;
    this.#busy -= 1;
    if (this.#waiting.length > 0) this.#start();
  }

  /** Removes and returns the jobs that have not started, of all shards or of one. */
  drop(shard?: number): Execution[] {
    const waiting = this.#waiting.splice(0);
    if (shard !== undefined) this.#waiting.push(...waiting.filter((one) => one.shard !== shard));
    if (this.#waiting.length === 0) this.#stopWaiting();
    return shard === undefined ? waiting : waiting.filter((one) => one.shard === shard);
  }

  #start(): void {
    // A job that ends at once frees its slot within this loop.
    if (this.#starting) return;
    this.#starting = true;
    const { size, clock, run } = this.#options;
    while (this.#busy < size) {
      const execution = this.#waiting.shift();
      if (!execution) break;
      this.#busy += 1;
      execution.slotMs = clock.monotonicMs();
      run(execution);
    }
    this.#starting = false;
    if (this.#busy >= size) this.#options.onFull?.();
    if (this.#waiting.length === 0) this.#stopWaiting();
    else if (this.#impatience) this.#impatience.refresh();
    else this.#impatience = setTimeout(() => this.#giveUp(), PATIENCE_MS);
  }

  #stopWaiting(): void {
    clearTimeout(this.#impatience);
    this.#impatience = undefined;
  }

  #giveUp(): void {
    this.#averageMs = Number.POSITIVE_INFINITY;
    this.#options.returnJobs(this.drop());
  }
}
