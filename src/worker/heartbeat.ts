import { randomUUID } from 'node:crypto';
import { mustRenew } from '../core/queue/lease.ts';
import { BackOff, quietLeaseStretch } from '../core/shards/quiet.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller, shardName } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { HeartbeatAnswer, WorkerInstance } from '../store/workers/workers.ts';
import type { Lease, WorkQueue } from './claim/work-queue.ts';

/** A second liveness signal: while it is steady, the lease in the database may be long. */
export interface LongLease {
  readonly leaseMs: number;
  readonly steady: boolean;
}

export interface HeartbeatOptions {
  queue: WorkQueue;
  longLease: LongLease | null;
  clock: Clock;
  log: Log;
  leaseMs: number;
  heartbeatMs: number;
  /** Asked at every registration: definitions are loaded after the start of the worker. */
  identity(): Pick<WorkerInstance, 'host' | 'pid' | 'version' | 'slots' | 'notLoaded'>;
  /** Whether this worker has nothing in a shard that needs its lease. */
  isIdle(shard: number): boolean;
  /** What ran when the heartbeat was sent; passed back with the answer. */
  snapshot(): ReadonlySet<string>;
  onAnswer(shard: number, answer: HeartbeatAnswer, sent: ReadonlySet<string>): void;
  /** All leases hold until this time of the monotonic clock, less the time to kill a process. */
  onRenewed(leaseEndMs: number): void;
  /**
   * The lease of a shard is lost, or about to be: stop all jobs of that shard now. Resolves when
   * they have ended.
   */
  onFence(shard: number, reason: string): Promise<void>;
}

/**
 * Keeps the lease of this worker in one shard. The lease counts from when a renewal was *sent*, on
 * the monotonic clock, so this side considers it over before the database does. A worker that
 * cannot renew stops its jobs while the lease still holds, drops its identity, and returns as a new
 * instance when the database answers again, so the two cannot be confused. It then gives up the
 * lease of the old instance as soon as everything that ran under it has ended: that lease may be
 * long, and heartbeats left in Redis would make it longer.
 *
 * With a long lease most contacts only read the lease, which needs no write and returns the same
 * answer, so cancels are not delayed. The worker does not rely on the long lease: `leaseMs` after
 * its last contact it has stopped, because a process that misses its heartbeats may shorten the
 * lease to that (`store/workers/suspect-workers.ts`).
 *
 * Where there are many shards, a worker without jobs in this one stretches the lease, and renews it
 * that much more rarely. It shortens the lease before it claims here again (`readyToClaim`), so its
 * jobs are recovered as soon as those of any other worker.
 */
class ShardLease {
  readonly #shard: number;
  readonly #options: HeartbeatOptions;
  readonly #poller: Poller;
  #instance: string | null = null;
  /** The latest renewal that is known to have succeeded, when it was sent, and for how long it holds. */
  #renewedMs = Number.NEGATIVE_INFINITY;
  #heldMs: number;
  /** How many times longer than usual the lease may be in the database. */
  #stretch = 1;
  readonly #stretches: BackOff;
  /** A waiting call renews the lease (`Lease.rest`). */
  #resting = false;
  /** Calls that must know whether the lease holds. */
  #confirmations: PromiseWithResolvers<void>[] = [];
  /** Leases without running jobs that are still to be given up. */
  #former: string[] = [];
  #fenceTimer: NodeJS.Timeout | undefined;

  constructor(shard: number, name: string, options: HeartbeatOptions) {
    this.#shard = shard;
    this.#options = options;
    this.#heldMs = options.leaseMs;
    this.#stretches = new BackOff(1, quietLeaseStretch(shard, options.queue.shards));
    this.#poller = new Poller({
      name,
      log: options.log,
      tick: async () => await this.#confirming(),
      maxRetryMs: Math.max(200, options.heartbeatMs / 2),
    });
  }

  get instance(): string | null {
    return this.#instance;
  }

  /**
   * Whether jobs that were claimed under this identity may start. A process that was stopped for a
   * while reads the answer to its claim before the timer of the fence fires.
   */
  holds(instance: string): boolean {
    const isDue = !this.#resting && this.#options.clock.monotonicMs() >= this.#fenceMs();
    if (isDue) this.#fence(UNRENEWED);
    return this.#instance === instance;
  }

  async register(instance: string = randomUUID()): Promise<void> {
    const { queue, identity, leaseMs, clock } = this.#options;
    const sentMs = clock.monotonicMs();
    await queue.register(this.#shard, { ...identity(), instance, leaseMs });
    this.#instance = instance;
    this.#resting = false;
    this.#stretch = 1;
    this.#stretches.reset();
    this.#renewedMs = sentMs;
    this.#heldMs = leaseMs;
    this.#armFence();
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  beatSoon(): void {
    this.#poller.wake();
  }

  /** See `Lease`. Without jobs there is nothing to stop, so no fence is needed. */
  rest(instance: string, untilMs: number): boolean {
    if (this.#instance !== instance) return false;
    this.#resting = true;
    clearTimeout(this.#fenceTimer);
    this.#options.onRenewed(untilMs);
    return true;
  }

  wake(instance: string, sentMs: number | null): void {
    if (this.#instance !== instance || !this.#resting) return;
    this.#resting = false;
    this.#renewedMs = Math.max(this.#renewedMs, sentMs ?? this.#renewedMs);
    // Later than that, the next job needs a heartbeat before it starts (`confirm`).
    if (this.#options.clock.monotonicMs() < this.#fenceMs()) this.#armFence();
  }

  /** Shortens a stretched lease. The next heartbeat does not stretch it, even if it comes before the claim. */
  async readyToClaim(): Promise<void> {
    this.#stretches.reset();
    if (this.#stretch > 1) await this.#nextBeat();
  }

  async confirm(instance: string): Promise<void> {
    if (this.#instance !== instance) throw new Error(LOST);
    const { clock, heartbeatMs } = this.#options;
    const holds = !this.#resting && clock.monotonicMs() < this.#fenceMs();
    this.#resting = false;
    if (holds && clock.monotonicMs() > this.#renewedMs + heartbeatMs) this.#poller.wake();
    if (holds) return;
    await this.#nextBeat();
    if (this.#instance !== instance) throw new Error(LOST);
  }

  /** Resolves after a heartbeat that begins now; rejects if it fails. */
  async #nextBeat(): Promise<void> {
    const confirmation = Promise.withResolvers<void>();
    this.#confirmations.push(confirmation);
    this.#poller.wake();
    await confirmation.promise;
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
    for (const { reject } of this.#confirmations.splice(0)) reject(new Error(LOST));
    clearTimeout(this.#fenceTimer);
    if (this.#instance !== null) this.#leave(this.#instance);
    this.#instance = null;
    await this.#retireFormer(() => true).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'cannot give up a lease; it will expire');
    });
  }

  async #confirming(): Promise<number> {
    const waiting = this.#confirmations.splice(0);
    try {
      const delayMs = await this.#tick(waiting.length > 0);
      for (const { resolve } of waiting) resolve();
      return delayMs;
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      throw error;
    }
  }

  async #tick(isNeeded: boolean): Promise<number> {
    const { isIdle, heartbeatMs } = this.#options;
    const stretch = this.#stretches.after(isNeeded || !isIdle(this.#shard));
    if (this.#instance === null) await this.register();
    else if (!this.#resting) await this.#beat(this.#instance, stretch);
    // Only with a current identity: an early end of the old lease is always due to the worker's
    // return.
    await this.#retireFormer(() => this.#instance !== null);
    return heartbeatMs * this.#stretch;
  }

  #leave(instance: string): void {
    this.#former.push(instance);
  }

  async #retireFormer(goesOn: () => boolean): Promise<void> {
    for (;;) {
      const [instance] = this.#former;
      if (instance === undefined || !goesOn()) return;
      await this.#options.queue.retire(this.#shard, instance);
      this.#former = this.#former.filter((one) => one !== instance);
    }
  }

  async #beat(instance: string, stretch: number): Promise<void> {
    const { clock, snapshot, onAnswer, leaseMs } = this.#options;
    const sentMs = clock.monotonicMs();
    const sent = snapshot();
    const answer = await this.#contact(instance, stretch);
    if (this.#instance !== instance) return;
    if (!answer.alive) return this.#fence('this worker was declared dead');
    onAnswer(this.#shard, answer, sent);
    this.#stretch = stretch;
    this.#heldMs = leaseMs * stretch;
    this.#renewed(sentMs);
  }

  async #contact(instance: string, stretch: number): Promise<HeartbeatAnswer> {
    const { queue, leaseMs, longLease } = this.#options;
    const shard = this.#shard;
    const isStretched = this.#stretch > 1 || stretch > 1;
    // Its answer may get lost, so the lease counts as stretched from now on.
    this.#stretch = Math.max(this.#stretch, stretch);
    if (!longLease?.steady || isStretched) {
      return await queue.heartbeat(shard, instance, leaseMs * stretch, null);
    }
    const seen = await queue.readLease(shard, instance);
    if (!seen.alive || !mustRenew(seen, longLease.leaseMs)) return seen;
    return await queue.heartbeat(shard, instance, longLease.leaseMs, leaseMs);
  }

  /** The fence fires a sixth of the lease before its end, which leaves time to kill what runs. */
  #fenceMs(): number {
    return this.#renewedMs + (this.#heldMs * 5) / 6;
  }

  #renewed(sentMs: number): void {
    this.#renewedMs = Math.max(this.#renewedMs, sentMs);
    if (!this.#resting) this.#armFence();
  }

  #armFence(): void {
    const { clock, onRenewed } = this.#options;
    onRenewed(this.#renewedMs + (this.#heldMs * 11) / 12);
    const leftMs = this.#fenceMs() - clock.monotonicMs();
    clearTimeout(this.#fenceTimer);
    this.#fenceTimer = setTimeout(() => this.#fence(UNRENEWED), leftMs);
  }

  #fence(reason: string): void {
    clearTimeout(this.#fenceTimer);
    const instance = this.#instance;
    if (instance === null) return;
    this.#instance = null;
    void this.#options.onFence(this.#shard, reason).then(() => {
      this.#leave(instance);
      this.#poller.wake();
    });
    this.#poller.wake();
  }
}

const UNRENEWED = 'the lease could not be renewed';
const LOST = 'the lease was lost while a job was on its way here';

/**
 * Keeps the leases of this worker, one per shard. A shard that does not answer costs its own lease
 * and its own jobs only. All start under one identity. A shard whose lease was lost returns under a
 * new one.
 */
export class Heartbeat implements Service, Lease {
  readonly name = 'heartbeat';
  readonly #shards: ShardLease[];
  readonly #log: Log;
  /** The end of each lease, for the watchdog, which ends everything at once. */
  readonly #endsMs = new Map<number, number>();

  constructor(options: HeartbeatOptions) {
    const { queue } = options;
    this.#log = options.log;
    this.#shards = Array.from({ length: queue.shards }, (_, shard) => {
      const tellNearest = () => {
        if (this.#endsMs.size > 0) options.onRenewed(Math.min(...this.#endsMs.values()));
      };
      return new ShardLease(shard, shardName(this.name, shard, queue.shards), {
        ...options,
        onRenewed: (leaseEndMs) => {
          this.#endsMs.set(shard, leaseEndMs);
          tellNearest();
        },
        onFence: async (_, reason) => {
          this.#endsMs.delete(shard);
          tellNearest();
          await options.onFence(shard, reason);
        },
      });
    });
  }

  /** Null while this worker holds no lease in that shard and must not claim there. */
  instance(shard: number): string | null {
    return this.#shards[shard]?.instance ?? null;
  }

  /** Whether jobs that were claimed there under this identity may start. */
  holds(shard: number, instance: string): boolean {
    return this.#shards[shard]?.holds(instance) ?? false;
  }

  /** Before a claim: the lease there is not stretched when this resolves. */
  async readyToClaim(shard: number): Promise<void> {
    await this.#shards[shard]?.readyToClaim();
  }

  /** Whether this worker has that identity in some shard. */
  isOurs(instance: string): boolean {
    return this.#shards.some((lease) => lease.instance === instance);
  }

  /** Unreachable shards are retried; one reachable shard is enough to start. */
  async start(): Promise<void> {
    const instance = randomUUID();
    const tries = await Promise.allSettled(
      this.#shards.map(async (lease) => await lease.register(instance)),
    );
    const failed = tries.filter((one) => one.status === 'rejected');
    if (failed.length === tries.length) throw failed[0]?.reason;
    for (const { reason } of failed) {
      this.#log.warn({ err: reason }, 'cannot get a lease in a shard yet; trying again');
    }
    for (const lease of this.#shards) await lease.start();
  }

  /** Sends a heartbeat now, after a hint that its answer has changed. */
  beatSoon(): void {
    for (const lease of this.#shards) lease.beatSoon();
  }

  rest(instance: string, untilMs: number): boolean {
    return this.#shards.every((lease) => lease.rest(instance, untilMs));
  }

  wake(instance: string, sentMs: number | null): void {
    for (const lease of this.#shards) lease.wake(instance, sentMs);
  }

  async confirm(instance: string): Promise<void> {
    await Promise.all(this.#shards.map(async (lease) => await lease.confirm(instance)));
  }

  /** Gives the leases up, so that other workers need not wait for them to expire. */
  async stop(): Promise<void> {
    await Promise.all(this.#shards.map(async (lease) => await lease.stop()));
    this.#endsMs.clear();
  }
}
