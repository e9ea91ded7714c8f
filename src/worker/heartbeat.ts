import { randomUUID } from 'node:crypto';
import { mustRenew } from '../core/lease.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { HeartbeatAnswer, WorkerInstance } from '../store/workers.ts';
import type { QueuePort } from './port.ts';

/** Another place to say "alive": while it is steady, the lease in the database may be long. */
export interface LongLease {
  readonly leaseMs: number;
  readonly steady: boolean;
}

export interface HeartbeatOptions {
  queue: QueuePort;
  longLease: LongLease | null;
  clock: Clock;
  log: Log;
  leaseMs: number;
  heartbeatMs: number;
  identity: Pick<WorkerInstance, 'host' | 'pid' | 'version' | 'slots'>;
  /** What was running when the beat was sent; handed back with the answer. */
  snapshot(): ReadonlySet<string>;
  onAnswer(shard: number, answer: HeartbeatAnswer, sent: ReadonlySet<string>): void;
  /** The lease holds until then on the monotonic clock, less what it takes to kill a process. */
  onRenewed(leaseEndMs: number): void;
  /** The leases are lost, or about to be: stop everything now. Resolves when all of it has ended. */
  onFence(reason: string): Promise<void>;
}

/**
 * Keeps the lease of this worker. The lease counts from when a renewal was *sent*, on a clock that
 * never jumps, so this side always believes it ends before the database does. A worker that cannot
 * renew stops its jobs while the lease still holds, forgets its identity, and comes back as a new
 * instance when the database answers again: nobody can mistake the new one for the old. It then gives
 * up the lease of the old one, as soon as everything that ran under it has ended: that lease may be a
 * long one, and a Redis that remembers its beats would make it longer still.
 *
 * With a long lease most contacts are looks, which cost the database no write and bring the same
 * answer: cancels come as soon. The worker believes in its lease no longer than without: `leaseMs`
 * after its last contact it has stopped, however long the lease still is, because somebody who
 * misses its beats may shorten it to that (`store/suspect-workers.ts`).
 */
export class Heartbeat implements Service {
  readonly name = 'heartbeat';
  readonly #options: HeartbeatOptions;
  readonly #poller: Poller;
  #instance: string | null = null;
  /** Leases under which nothing runs any more and which are still to be given up. */
  #former: { shard: number; instance: string }[] = [];
  #fenceTimer: NodeJS.Timeout | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#poller = new Poller({
      name: this.name,
      log: options.log,
      tick: async () => await this.#tick(),
      maxRetryMs: Math.max(200, options.heartbeatMs / 2),
    });
  }

  /** Null while this worker holds no lease and must not claim. */
  get instance(): string | null {
    return this.#instance;
  }

  async start(): Promise<void> {
    await this.#register();
    await this.#poller.start();
  }

  /** Sends a heartbeat now: its answer is said to carry something new. */
  beatSoon(): void {
    this.#poller.wake();
  }

  /** Gives the lease up, so that nobody has to wait for it to run out. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    clearTimeout(this.#fenceTimer);
    if (this.#instance !== null) this.#leave(this.#instance);
    this.#instance = null;
    await this.#retireFormer().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'a lease could not be given up; it will run out');
    });
  }

  async #tick(): Promise<number> {
    if (this.#instance === null) await this.#register();
    else await this.#beat(this.#instance);
    // Not between two identities: a lease that ends early was ended by a worker that is back.
    if (this.#instance !== null) await this.#retireFormer();
    return this.#options.heartbeatMs;
  }

  #leave(instance: string): void {
    const { shards } = this.#options.queue;
    for (let shard = 0; shard < shards; shard += 1) this.#former.push({ shard, instance });
  }

  /** Gives up what it can. A shard that fails is tried again, and holds back no other. */
  async #retireFormer(): Promise<void> {
    const failures: unknown[] = [];
    for (const lease of this.#former) {
      try {
        await this.#options.queue.retire(lease.shard, lease.instance);
        this.#former = this.#former.filter((one) => one !== lease);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #register(): Promise<void> {
    const { queue, identity, leaseMs, clock } = this.#options;
    const instance = randomUUID();
    const sentMs = clock.monotonicMs();
    for (let shard = 0; shard < queue.shards; shard += 1) {
      await queue.register(shard, { ...identity, instance, leaseMs });
    }
    this.#instance = instance;
    this.#armFence(sentMs);
  }

  async #beat(instance: string): Promise<void> {
    const { queue, clock, snapshot, onAnswer } = this.#options;
    const sentMs = clock.monotonicMs();
    const sent = snapshot();
    for (let shard = 0; shard < queue.shards; shard += 1) {
      const answer = await this.#contact(shard, instance);
      if (this.#instance !== instance) return;
      if (!answer.alive) return this.#fence('this worker was declared dead');
      onAnswer(shard, answer, sent);
    }
    this.#armFence(sentMs);
  }

  async #contact(shard: number, instance: string): Promise<HeartbeatAnswer> {
    const { queue, leaseMs, longLease } = this.#options;
    if (!longLease?.steady) return await queue.heartbeat(shard, instance, leaseMs, null);
    const seen = await queue.look(shard, instance);
    if (!seen.alive || !mustRenew(seen, longLease.leaseMs)) return seen;
    return await queue.heartbeat(shard, instance, longLease.leaseMs, leaseMs);
  }

  /** Fires a sixth of the lease before it ends, which leaves time to kill what runs. */
  #armFence(sentMs: number): void {
    const { leaseMs, clock, onRenewed } = this.#options;
    onRenewed(sentMs + (leaseMs * 11) / 12);
    const leftMs = sentMs + (leaseMs * 5) / 6 - clock.monotonicMs();
    clearTimeout(this.#fenceTimer);
    this.#fenceTimer = setTimeout(() => this.#fence('the lease could not be renewed'), leftMs);
  }

  #fence(reason: string): void {
    clearTimeout(this.#fenceTimer);
    const instance = this.#instance;
    if (instance === null) return;
    this.#instance = null;
    void this.#options.onFence(reason).then(() => {
      this.#leave(instance);
      this.#poller.wake();
    });
    this.#poller.wake();
  }
}
