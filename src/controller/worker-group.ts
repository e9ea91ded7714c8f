import type { DefinitionInfo } from '../core/definition/definition.ts';
import { NO_USAGE } from '../core/job/job.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { LevelHint } from '../store/connection/wake.ts';
import { Execution } from '../worker/attempt/execution.ts';
import { type Finished, StoreOutcomes } from '../worker/attempt/outcome-writer.ts';
import { directQueue } from '../worker/claim/direct-queue.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import type { Accepted, ShardQueue } from '../worker/claim/work-queue.ts';
import type { Delivery } from './remote-worker.ts';
import { TurnOutcomes } from './turn-outcomes.ts';

/** A worker that waits for jobs. */
interface Waiting {
  instance: string;
  room: number;
  signal: AbortSignal;
  isOver(): boolean;
  /** False when the wait is over already. */
  answer(deliveries: Delivery[]): boolean;
}

export interface GroupOptions {
  tenant: string;
  definitions: readonly DefinitionInfo[];
  store: WorkerStore;
  clock: Clock;
  log: Log;
  pollMs: number;
}

/**
 * The remote workers that serve the same definitions of one tenant. They share what this process
 * knows of the queues, so a thousand idle workers cost one poll. A hint wakes as many of them as
 * there are jobs.
 */
export class WorkerGroup {
  readonly #options: GroupOptions;
  readonly #shards: ShardQueue[];
  readonly #poller: Poller;
  #waiting: Waiting[] = [];
  #first = 0;

  constructor(options: GroupOptions) {
    this.#options = options;
    const { store, tenant } = options;
    const own: WorkerStore = {
      ...store,
      queues: async (shard, definitions) =>
        (await store.queues(shard, definitions)).filter((queue) => queue.tenant === tenant),
    };
    const queue = directQueue(own);
    const definitions = { list: options.definitions };
    this.#shards = Array.from({ length: store.shards }, (_, shard) =>
      queue.shardQueue(shard, { ...options, definitions }),
    );
    this.#poller = new Poller({
      name: 'remote workers',
      log: options.log,
      tick: async () => await this.#tick(),
      maxRetryMs: Math.max(200, options.pollMs),
    });
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  releaseAll(): void {
    for (const waiting of this.#waiting.splice(0)) waiting.answer([]);
  }

  async stop(): Promise<void> {
    this.releaseAll();
    await this.#poller.stop();
    await Promise.all(this.#shards.map(async (shard) => await shard.close()));
  }

  hint(hint: LevelHint): void {
    this.#shards[hint.shard]?.hint(hint);
    this.#poller.wake();
  }

  pollSoon(): void {
    for (const shard of this.#shards) shard.pollSoon();
    this.#poller.wake();
  }

  /** Ends the waits of this worker: its next heartbeat has news. */
  release(instance: string): boolean {
    const own = this.#waiting.filter((one) => one.instance === instance);
    this.#waiting = this.#waiting.filter((one) => one.instance !== instance);
    for (const one of own) one.answer([]);
    return own.length > 0;
  }

  /** Writes outcomes, by shard, and claims at most `room` jobs from what is known to have work. */
  async turn(
    instance: string,
    batches: ReadonlyMap<number, readonly Finished[]>,
    room: number,
  ): Promise<{ outcomes: TurnOutcomes; deliveries: Delivery[] }> {
    const { store, clock, log } = this.#options;
    const outcomes = new TurnOutcomes(directQueue(store).outcomes(clock, log));
    const deliveries: Delivery[] = [];
    for (const queue of this.#inTurn()) {
      const batch = batches.get(queue.shard) ?? [];
      const limit = queue.hasWork ? room - deliveries.length : 0;
      if (batch.length === 0 && limit === 0) continue;
      const accept = (jobs: readonly Accepted[]) => {
        deliveries.push(...jobs.map((job) => ({ ...job, shard: queue.shard })));
      };
      await queue.round({ outbox: outcomes, instance, batch, limit, accept });
      await outcomes.finish(queue.shard);
    }
    return { outcomes, deliveries };
  }

  /**
   * The answer was not sent: the jobs are for others, and cost no attempt. Those that another call
   * may have delivered stay with the worker.
   */
  async giveBack(instance: string, deliveries: readonly Delivery[]): Promise<void> {
    const { store, clock, log } = this.#options;
    const outcomes = new StoreOutcomes(store, clock, log);
    const batches = new Map<number, Finished[]>();
    for (const delivery of deliveries) {
      const item = {
        execution: attemptOf(delivery),
        ended: { outcome: { kind: 'unstarted' } as const, usage: NO_USAGE },
      };
      batches.set(delivery.shard, [...(batches.get(delivery.shard) ?? []), item]);
    }
    for (const [shard, batch] of batches) {
      await store.settleUndelivered(shard, instance, outcomes.settlements(batch));
    }
  }

  /** Waits for jobs. A newer wait of the same worker ends the older one. */
  async wait(
    instance: string,
    room: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<Delivery[]> {
    this.release(instance);
    return await new Promise<Delivery[]>((resolve) => {
      const waiting: Waiting = {
        instance,
        room,
        signal,
        isOver: () => over,
        answer: (deliveries) => {
          if (over) return false;
          over = true;
          clearTimeout(timer);
          signal.removeEventListener('abort', leave);
          resolve(deliveries);
          return true;
        },
      };
      let over = false;
      const leave = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        waiting.answer([]);
      };
      const timer = setTimeout(leave, waitMs);
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      if (room > 0) this.#poller.wake();
    });
  }

  async #tick(): Promise<number> {
    for (const queue of this.#shards) await queue.refresh();
    while (this.#shards.some(({ hasWork }) => hasWork)) {
      const next = this.#waiting.findIndex(({ room, signal }) => room > 0 && !signal.aborted);
      const [waiting] = next < 0 ? [] : this.#waiting.splice(next, 1);
      if (!waiting) break;
      const { instance, room } = waiting;
      try {
        const { deliveries } = await this.turn(instance, new Map(), room);
        // Others had taken them; the levels are known to be empty now.
        if (deliveries.length === 0) this.#waitOn(waiting);
        else if (!waiting.answer(deliveries)) await this.giveBack(instance, deliveries);
      } catch (error) {
        this.#waitOn(waiting);
        throw error;
      }
    }
    const dueMs = Math.min(...this.#shards.map(({ dueInMs }) => dueInMs));
    return Math.min(this.#options.pollMs, dueMs);
  }

  /** Its wait may have ended while jobs were claimed for it. */
  #waitOn(waiting: Waiting): void {
    if (!waiting.isOver()) this.#waiting.push(waiting);
  }

  /** The shard that comes first rotates. */
  #inTurn(): ShardQueue[] {
    this.#first = (this.#first + 1) % this.#shards.length;
    return [...this.#shards.slice(this.#first), ...this.#shards.slice(0, this.#first)];
  }
}

/** An attempt that runs elsewhere, for the decision about its outcome. */
export function attemptOf(delivery: Delivery): Execution {
  return new Execution(delivery.shard, delivery, 0);
}
