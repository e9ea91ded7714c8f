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
  /** The length of the lease in the database while the heartbeats arrive. */
  leaseMs: number;
  /** The running jobs by worker identity, including identities without jobs. */
  running(): ReadonlyMap<string, readonly string[]>;
  clock: Clock;
  log: Log;
}

/**
 * Sends heartbeats for running jobs to Redis. While that works the worker is steady, and its lease
 * may be long; a failed heartbeat ends that until one succeeds again.
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
