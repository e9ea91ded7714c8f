import type { Log } from './log.ts';
import type { Service } from './service.ts';
import { sleep } from './deadline.ts';

export interface PollerOptions {
  name: string;
  log: Log;
  /** Does one round of work and says how long to wait before the next one. */
  tick(signal: AbortSignal): Promise<number>;
  /** The wait after a failed tick. Doubles up to `maxRetryMs` while it keeps failing. */
  retryMs?: number;
  maxRetryMs?: number;
}

/**
 * The one loop of all background parts. A tick never overlaps itself, a failed tick is logged and
 * tried again later with a growing pause, and `wake` ends the current pause early. A wake that
 * arrives during a tick is remembered, so that no hint is lost between looking and sleeping.
 */
export class Poller implements Service {
  readonly name: string;
  readonly #options: PollerOptions;
  #stopping = new AbortController();
  #pause = new AbortController();
  #woken = false;
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

  wake(): void {
    this.#woken = true;
    this.#pause.abort();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#pause.abort();
    await this.#loop;
    this.#loop = undefined;
  }

  async #run(stopping: AbortSignal): Promise<void> {
    const { log, retryMs = 200, maxRetryMs = 5_000 } = this.#options;
    let failures = 0;
    while (!stopping.aborted) {
      this.#woken = false;
      let delayMs: number;
      try {
        delayMs = await this.#options.tick(stopping);
        if (failures > 0) log.info({ service: this.name, failures }, 'recovered');
        failures = 0;
      } catch (error) {
        failures += 1;
        delayMs = Math.min(maxRetryMs, retryMs * 2 ** (failures - 1));
        if (!stopping.aborted)
          log.warn({ service: this.name, err: error, failures }, 'tick failed');
      }
      if (this.#woken && failures === 0) continue;
      this.#pause = new AbortController();
      if (stopping.aborted) return;
      await sleep(delayMs, this.#pause.signal);
    }
  }
}
