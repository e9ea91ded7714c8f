import { NO_USAGE } from '../../core/job/job.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Service } from '../../runtime/service.ts';
import type { LevelHint } from '../../store/connection/wake.ts';
import { AttemptSignals } from '../attempt/attempt-signals.ts';
import { type Ended, Execution } from '../attempt/execution.ts';
import { ExecutionList } from '../attempt/execution-list.ts';
import { Fenced } from '../fenced.ts';
import type { Journal } from '../attempt/journal.ts';
import { Outbox } from '../attempt/outbox.ts';
import type { Runners } from '../runners/runners.ts';
import { isWorthLimited, isWorthRound, takeBatch, writeInMs } from './round-batch.ts';
import { type ShardLoop, shardLoops, wakingInTurn } from './shard-loop.ts';
import { Slots } from './slots.ts';
import { Starter } from '../attempt/starter.ts';
import type { Accepted, Round, ServedDefinitions, ShardQueue } from './work-queue.ts';
import type { ShardQueueOptions, WorkQueue } from './work-queue.ts';
import type { Finished } from '../attempt/outcome-writer.ts';

export interface WorkLoopOptions extends Pick<ShardQueueOptions, 'ageingMs' | 'quietMs'> {
  queue: WorkQueue;
  runners: Pick<Runners, 'source'>;
  definitions: ServedDefinitions;
  journal: Journal;
  /** See `Heartbeat`, which keeps the lease in each shard. */
  instance(shard: number): string | null;
  holds(shard: number, instance: string): boolean;
  readyToClaim?(shard: number): Promise<void>;
  slots: number;
  pollMs: number;
  cancelGraceMs: number;
  clock: Clock;
  log: Log;
  /** What is logged about jobs (`core/views/job-log.ts`). */
  logJobs?: string | undefined;
}

const BATCH_MAX = 500;

/**
 * The main loop of a worker. A *round* writes the finished outcomes and claims as many jobs as
 * there are free slots (`slots.ts`). An idle worker runs a round at once when a hint, a finished job or the
 * poll wakes it. A busy one collects outcomes while a round is in progress, so that commits grow in size,
 * not in number.
 *
 * Each shard has its own loop, so that a slow or failing shard does not delay the others. All share the
 * slots.
 */
export class WorkLoop implements Service {
  readonly name = 'work loop';
  readonly running = new ExecutionList();
  readonly outbox: Outbox;
  readonly #options: WorkLoopOptions;
  readonly #shards: ShardLoop[];
  /** Slots may be free: all shards look for jobs. */
  readonly #wakeAll: () => void;
  readonly #slots: Slots;
  readonly #starter: Starter;
  readonly #signals: AttemptSignals;
  readonly #fenced = new Fenced();
  readonly #nowMs = () => this.#options.clock.monotonicMs();
  #stopping = new AbortController();
  #onIdle: (() => void) | undefined;

  constructor(options: WorkLoopOptions) {
    const { queue, clock, log } = options;
    this.#options = options;
    this.#signals = new AttemptSignals(clock, log, options.logJobs);
    this.outbox = new Outbox(queue.shards, queue.outcomes(clock, log), log, this.#signals);
    this.#shards = shardLoops(this.name, options, async (loop) => await this.#tick(loop));
    this.#wakeAll = wakingInTurn(this.#shards);
    this.#slots = new Slots({
      size: options.slots,
      clock,
      run: (execution) => this.#starter.start(execution),
      returnJobs: (executions) => this.#returnJobs(executions),
      onFull: () => this.#starter.startGroups(),
    });
    this.#starter = new Starter({
      ...options,
      signals: this.#signals,
      onEnd: (execution, ended) => this.#finish(execution, ended),
      onFree: (execution) => this.#slots.ended(execution),
    });
  }

  async start(): Promise<void> {
    this.#stopping = new AbortController();
    for (const { poller } of this.#shards) await poller.start();
  }

  /** Stops claiming and returns the jobs that have not started. Running jobs continue; see `drained`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#shards.map(async ({ poller }) => await poller.stop()));
    await Promise.all(
      this.#shards.flatMap(({ rounds, limitedRounds, waits }) => [
        ...rounds,
        ...limitedRounds,
        ...waits.keys(),
      ]),
    );
    await Promise.all(this.#shards.map(async (loop) => await loop.queue.close()));
    this.#returnJobs(this.#slots.drop());
    this.#starter.returnGathered();
  }

  /**
   * The lease of a shard is lost: stops its running jobs. Finished outcomes are still written, if their
   * claims own the jobs by then. Resolves when nothing is left to stop or to write.
   */
  async fence(shard: number): Promise<void> {
    this.#returnJobs(this.#slots.drop(shard));
    this.#starter.returnGathered(shard);
    const stopped = this.#fenced.stop(this.running.all().filter((one) => one.shard === shard));
    this.#options.journal.abandon(shard);
    await stopped;
    await this.outbox.written(shard);
  }

  /** Some levels probably have new jobs. */
  hint(hints: readonly LevelHint[]): void {
    for (const hint of hints) {
      const shard = this.#shards[hint.shard];
      if (shard?.queue.hint(hint)) shard.poller.wake();
    }
  }

  /** Hints may have been missed: poll the queue. */
  pollSoon(): void {
    for (const { queue } of this.#shards) queue.pollSoon();
    this.#wakeAll();
  }

  /** Whether a shard has nothing here that needs its lease. */
  isIdle(shard: number): boolean {
    const { rounds, limitedRounds } = this.#shards[shard] ?? {};
    const calls = (rounds?.size ?? 0) + (limitedRounds?.size ?? 0);
    return calls === 0 && this.outbox.unwritten(shard).length === 0 && !this.running.some(shard);
  }

  /** Resolves when no job is running here. */
  async drained(): Promise<void> {
    if (this.running.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Starts the rounds that are worth it. After a failed round it throws, so the poller waits. */
  async #tick(loop: ShardLoop): Promise<number> {
    const { failure, asksFirst, hold, queue } = loop;
    loop.failure = undefined;
    loop.asksFirst = true;
    if (failure !== undefined) throw failure;
    if (this.#options.instance(queue.shard) === null) return this.#options.pollMs;
    // Known work does not wait for a poll.
    if (!asksFirst) await this.#beginRounds(loop);
    // Nor does a success that is held: the tick that writes it polls.
    if (asksFirst || !hold.holds) await queue.refresh();
    const instance = await this.#beginRounds(loop);
    loop.asksFirst = false;
    if (instance === null) return this.#options.pollMs;
    if (queue.wait !== null) this.#keepWaiting(loop, instance);
    const dueMs = hold.holds ? writeInMs(loop, this.outbox, this.#nowMs) : queue.dueInMs;
    return Math.min(this.#options.pollMs, dueMs);
  }

  /** Begins the rounds that are worth it under the current lease, and returns it; null without one. */
  async #beginRounds(loop: ShardLoop): Promise<string | null> {
    const { queue } = loop;
    if (this.#claimable(queue) > 0) await this.#options.readyToClaim?.(queue.shard);
    const instance = this.#options.instance(queue.shard);
    if (instance === null) return null;
    while (isWorthLimited(loop, this.outbox)) this.#beginLimited(loop, instance);
    const isWorth = () => isWorthRound(loop, this.outbox, this.#claimable(queue), this.#nowMs);
    while (isWorth()) this.#begin(loop, instance);
    return instance;
  }

  get #room(): number {
    return Math.max(0, Math.min(BATCH_MAX, this.#slots.room));
  }

  #claimable(queue: ShardQueue): number {
    return queue.hasWork ? this.#room : 0;
  }

  #beginLimited(loop: ShardLoop, instance: string): void {
    const { queue, limitedRounds } = loop;
    const batch = this.outbox.takeLimited(queue.shard, BATCH_MAX);
    this.#start(loop, limitedRounds, instance, batch, Math.min(this.#room, batch.length));
  }

  #begin(loop: ShardLoop, instance: string): void {
    const { queue, rounds, hold } = loop;
    const batch = takeBatch(loop, this.outbox, BATCH_MAX, this.#nowMs);
    const claimable = this.#claimable(queue);
    if (batch.length > 0) hold.ended(claimable > 0);
    this.#start(loop, rounds, instance, batch, claimable);
  }

  #start(
    loop: ShardLoop,
    rounds: Set<Promise<void>>,
    instance: string,
    batch: readonly Finished[],
    limit: number,
  ): void {
    const round = this.#accepting(loop, instance, batch, limit, loop.queue.round).then(() => {
      rounds.delete(round);
      loop.poller.wake();
    });
    rounds.add(round);
  }

  /**
   * Keeps one call waiting for jobs. A worker without room waits too, for news of its jobs; when it
   * has room again, there is a new call beside that one, which may stay open: another server may
   * have it.
   */
  #keepWaiting(loop: ShardLoop, instance: string): void {
    const { queue, waits } = loop;
    const room = this.#room;
    const most = Math.max(-1, ...waits.values());
    if (most > 0 || most === room) return;
    const { signal } = this.#stopping;
    const ask = async (call: Round) => (await queue.wait?.(call, signal)) ?? 0;
    const wait = this.#accepting(loop, instance, [], room, ask).then(() => {
      waits.delete(wait);
      loop.poller.wake();
    });
    waits.set(wait, room);
  }

  /** Makes one call to the queue, and starts the jobs that it brings, each part as soon as it is here. */
  async #accepting(
    loop: ShardLoop,
    instance: string,
    batch: readonly Finished[],
    limit: number,
    call: (round: Round) => Promise<number>,
  ): Promise<void> {
    const { shard } = loop.queue;
    const kept = this.#slots.promise(limit, this.#shards.length > 1 ? this.#wakeAll : null);
    const accept = (jobs: readonly Accepted[]) => {
      // The lease was lost meanwhile: the reaper gives these jobs to other workers.
      if (this.#options.holds(shard, instance)) kept.accept(this.#accept(shard, jobs));
      if (jobs.length > 0) loop.hold.claimed(this.#nowMs());
    };
    const running = () => this.running.all().filter((one) => one.shard === shard);
    const capacity = { slots: this.#slots.capacity, running };
    const round = { outbox: this.outbox, instance, batch, limit, accept, capacity };
    const claimed = await call(round).catch((error: unknown) => {
      loop.failure = error;
      return 0;
    });
    kept.end();
    // Slots that were promised and not used are for the other shards.
    if (this.#shards.length > 1 && claimed < limit) this.#wakeAll();
  }

  #accept(shard: number, jobs: readonly Accepted[]): Execution[] {
    return jobs.map((job) => {
      const execution = new Execution(shard, job, this.#options.cancelGraceMs);
      this.running.add(execution);
      this.#signals.claimed(execution);
      return execution;
    });
  }

  #returnJobs(executions: readonly Execution[]): void {
    for (const execution of executions) {
      this.#finish(execution, { outcome: { kind: 'unstarted' }, usage: NO_USAGE });
    }
  }

  /** The slot is free as soon as the runner is, before the outcome is written. */
  #finish(execution: Execution, ended: Ended): void {
    this.#signals.ended(execution, ended);
    this.running.delete(execution);
    if (!execution.lost) this.outbox.add(execution, ended);
    if (this.running.size === 0) this.#onIdle?.();
    this.#fenced.ended(execution);
    this.#wakeAll();
  }
}
