import type { BeatTiming } from '../core/queue/lease.ts';
import type { Beats } from '../liveness/beats.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { LongLease } from './heartbeat.ts';

export interface LivenessHeartbeatOptions {
  beats: Beats;
  timing: BeatTiming;
  /** How long the lease in the database may be while the beats arrive. */
  leaseMs: number;
  /** What runs here, by the identity it runs under. One that runs nothing says so as well. */
  running(): ReadonlyMap<string, readonly string[]>;
  clock: Clock;
  log: Log;
}

/**
 * Beats elsewhere for what runs here. As long as that works the worker is steady, and its lease may
 * be long; the first beat that does not arrive ends that, until one does again.
 */
export class LivenessHeartbeat implements Service, LongLease {
  readonly name = 'liveness-heartbeat';
  readonly leaseMs: number;
  readonly #options: LivenessHeartbeatOptions;
  readonly #poller: Poller;
  #beatenMs = Number.NEGATIVE_INFINITY;

  constructor(options: LivenessHeartbeatOptions) {
    this.#options = options;
    this.leaseMs = options.leaseMs;
    this.#poller = new Poller({
      name: this.name,
      log: options.log,
      tick: async () => await this.#tick(),
      maxRetryMs: options.timing.everyMs,
    });
  }

  get steady(): boolean {
    const { clock, timing } = this.#options;
    return clock.monotonicMs() - this.#beatenMs < timing.ttlMs;
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
    this.#beatenMs = Number.NEGATIVE_INFINITY;
  }

  async #tick(): Promise<number> {
    const { beats, timing, running, clock } = this.#options;
    const sentMs = clock.monotonicMs();
    const mine = running();
    if (mine.size === 0) return timing.everyMs;
    try {
      for (const [worker, jobIds] of mine) await beats.beat(worker, jobIds);
      this.#beatenMs = sentMs;
    } catch (error) {
      this.#beatenMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
    return timing.everyMs;
  }
}
