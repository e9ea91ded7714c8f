import type { Clock } from '../runtime/clock.ts';
import { Poller, type PollerOptions } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';

/**
 * A loop that sleeps until the next due instant it knows of. A hint of something nearer ends the
 * sleep; all others are ignored, so that many hints cost few rounds.
 */
export class DuePoller implements Service {
  readonly name: string;
  readonly #poller: Poller;
  readonly #clock: Clock;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, options: PollerOptions) {
    this.name = options.name;
    this.#clock = clock;
    this.#poller = new Poller({
      ...options,
      tick: async (signal) => {
        // What is announced during a round may have been stored too late to be seen by it.
        this.#nextAtMs = Infinity;
        const delayMs = await options.tick(signal);
        this.#nextAtMs = clock.monotonicMs() + delayMs;
        return delayMs;
      },
    });
  }

  hint(inMs: number): void {
    if (this.#clock.monotonicMs() + inMs < this.#nextAtMs) this.#poller.wake();
  }

  lookSoon(): void {
    this.#poller.wake();
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }
}
