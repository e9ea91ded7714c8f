import type { Log } from './log.ts';
import type { Service } from './service.ts';
import { TIMER_MS_MAX } from './deadline.ts';

export interface PollerOptions {
  name: string;
  log: Log;
  /** Does one round of work and returns the delay before the next one. */
  tick(signal: AbortSignal): Promise<number>;
  /** The wait after a failed tick. Doubles up to `maxRetryMs` while it keeps failing. */
  retryMs?: number;
  maxRetryMs?: number;
  /** The pause before the first tick; `wake` ends it. None by default. */
  firstMs?: number | undefined;
}

/** The name of a loop, with its shard when there are several. */
export function shardName(name: string, shard: number, shards: number): string {
  return shards === 1 ? name : `${name} of shard ${shard}`;
}

/**
 * The loop of all background parts. Ticks never overlap, a failed tick is logged and retried with
 * backoff, and `wake` ends the current pause early. A wake during a tick is remembered, so no hint
 * is lost between the poll and the sleep.
 */
export class Poller implements Service {
  readonly name: string;
  readonly #options: PollerOptions;
  #stopping = new AbortController();
  #failures = 0;
  #woken = false;
  #endPause: (() => void) | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: PollerOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#loop) return;
    this.#stopping = new AbortController();
    this.#loop = this.#run(this.#stopping.signal);
  }

  get running(): boolean {
    return this.#loop !== undefined && !this.#stopping.signal.aborted;
  }

  /** Ends a pause, but not the one after a failure, which must last. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    if (this.#failures === 0) this.#endPause?.();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#endPause?.();
    await this.#loop;
    this.#loop = undefined;
  }

  async #run(stopping: AbortSignal): Promise<void> {
    this.#failures = 0;
    this.#woken = false;
    const { firstMs = 0 } = this.#options;
    if (firstMs > 0) await this.#pause(firstMs);
    while (!stopping.aborted) {
      this.#woken = false;
      const delayMs = await this.#tick(stopping);
      if (stopping.aborted) return;
      if (!this.#woken || this.#failures > 0) await this.#pause(delayMs);
    }
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    const { log, tick, retryMs = 200, maxRetryMs = 5_000 } = this.#options;
    try {
      const delayMs = await tick(stopping);
      if (this.#failures > 0) log.info({ service: this.name }, 'recovered');
      this.#failures = 0;
      return delayMs;
    } catch (error) {
      this.#failures += 1;
      const about = { service: this.name, err: error, failures: this.#failures };
      if (!stopping.aborted) log.warn(about, 'tick failed');
      return Math.min(maxRetryMs, retryMs * 2 ** (this.#failures - 1));
    }
  }

  async #pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(TIMER_MS_MAX, delayMs));
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = undefined;
  }
}
