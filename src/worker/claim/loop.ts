import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { NO_USAGE } from '../../core/job/job.ts';
import { CannotOpen } from '../../core/access/sealed.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Service } from '../../runtime/service.ts';
import type { ClaimedJob } from '../../store/claim/claim.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import type { DirectStart } from '../../store/enqueue/direct-start.ts';
import type { Queue } from '../../store/enqueue/queues.ts';
import type { LevelHint } from '../../store/connection/wake.ts';
import { AttemptSignals, lineFields } from '../attempt/attempt-signals.ts';
import { type Ended, type Execution, type SaveStep, unreadable } from '../attempt/execution.ts';
import { Fenced } from '../fenced.ts';
import type { Journal } from '../attempt/journal.ts';
import type { Levels } from './levels.ts';
import { type Finished, isPlainSettlement, Outbox } from '../attempt/outbox.ts';
import type { QueuePort } from './port.ts';
import type { Runners } from '../runners/runners.ts';
import { type ShardLoop, shardLoops } from './shard-loop.ts';
import { Slots } from './slots.ts';
import { belongings, stepSaver } from '../attempt/steps.ts';

export interface WorkLoopOptions {
  queue: QueuePort;
  runners: Pick<Runners, 'source'>;
  definitions: readonly DefinitionInfo[];
  journal: Journal;
  /** The current identity of this worker in a shard; null while it has no valid lease there. */
  instance(shard: number): string | null;
  slots: number;
  pollMs: number;
  /** A level that got nothing for so long goes first once; 0 or nothing is never. */
  ageingMs?: number | undefined;
  cancelGraceMs: number;
  clock: Clock;
  log: Log;
  /** Which levels about jobs the log gets (`core/views/job-log.ts`). */
  logJobs?: string | undefined;
}

const BATCH_MAX = 500;
const NO_RUNNER_PAUSE_MS = 1_000;
const ROUNDS_MAX = 3;
/** While one round is under way, a second one starts only when it is worth a commit of its own. */
const WORTH_A_ROUND = 100;

/**
 * The heart of a worker. A *round* writes the outcomes that have gathered and claims as many jobs as
 * there is room for (`slots.ts`), in one statement where it can be. An idle worker takes a round at
 * once when a hint, a finished job or the poll wakes it; a busy one gathers while a round is under
 * way, so that its commits grow and their number does not.
 *
 * Each shard has a loop of its own, so that one which fails or is slow holds up no other. They share
 * the slots.
 */
export class WorkLoop implements Service, DirectStart {
  readonly name = 'work loop';
  /** What runs here right now, by job id. */
  readonly running = new Map<string, Execution>();
  readonly outbox: Outbox;
  readonly #options: WorkLoopOptions;
  readonly #shards: ShardLoop[];
  readonly #slots: Slots;
  readonly #saveStep: SaveStep;
  readonly #signals: AttemptSignals;
  readonly #fenced = new Fenced();
  #first = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: WorkLoopOptions) {
    const { queue, clock, log } = options;
    this.#options = options;
    this.#signals = new AttemptSignals(clock, log, options.logJobs);
    this.outbox = new Outbox(queue, clock, log, this.#signals);
    this.#shards = shardLoops(this.name, options, async (loop) => await this.#tick(loop));
    this.#slots = new Slots({
      size: options.slots,
      clock,
      run: async (execution) => await this.#execute(execution),
      giveBack: (executions) => this.#giveBack(executions),
    });
    this.#saveStep = stepSaver(queue, log);
  }

  async start(): Promise<void> {
    for (const { poller } of this.#shards) await poller.start();
  }

  /** Claims nothing more, and gives back what has not started. What runs goes on; see `drained`. */
  async stop(): Promise<void> {
    await Promise.all(this.#shards.map(async ({ poller }) => await poller.stop()));
    await Promise.all(this.#shards.flatMap(({ rounds }) => [...rounds]));
    this.#giveBack(this.#slots.drop());
  }

  /**
   * The lease of a shard is lost: stop what runs of it. What has ended is still written, if its claim
   * owns the job by then. Resolves when nothing of it is left to stop or to write.
   */
  async fence(shard: number): Promise<void> {
    this.#giveBack(this.#slots.drop(shard));
    const stopped = this.#fenced.stop(
      [...this.running.values()].filter((one) => one.shard === shard),
    );
    this.#options.journal.abandon(shard);
    await stopped;
    await this.outbox.written(shard);
  }

  /** Some levels got work, as far as a hint can be believed. */
  hint(hints: readonly LevelHint[]): void {
    for (const hint of hints) {
      const shard = this.#shards[hint.shard];
      shard?.levels.hint(hint);
      shard?.poller.wake();
    }
  }

  /** Hints may have been missed: look at the queue itself. */
  pollSoon(): void {
    for (const { levels } of this.#shards) levels.pollSoon();
    this.#wakeAll();
  }

  /** There may be room now. Shards take turns at being asked first. */
  #wakeAll(): void {
    const { length } = this.#shards;
    this.#first = (this.#first + 1) % length;
    for (let step = 0; step < length; step += 1) {
      this.#shards[(this.#first + step) % length]?.poller.wake();
    }
  }

  /** Resolves when nothing runs here any more. */
  async drained(): Promise<void> {
    if (this.running.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Starts the rounds that are worth it now. A round that failed makes the next one wait. */
  async #tick(loop: ShardLoop): Promise<number> {
    const { failure, levels } = loop;
    loop.failure = undefined;
    if (failure !== undefined) throw failure;
    const instance = this.#options.instance(levels.shard);
    if (instance === null) return this.#options.pollMs;
    await levels.pollIfDue();
    while (this.#worthTurn(loop)) this.#begin(loop, instance);
    return Math.min(this.#options.pollMs, levels.opensInMs);
  }

  #claimable(levels: Levels): number {
    return levels.hasWork ? Math.max(0, Math.min(BATCH_MAX, this.#slots.room)) : 0;
  }

  #worthTurn({ levels, rounds }: ShardLoop): boolean {
    const outcomes = this.outbox.count(levels.shard);
    const claimable = this.#claimable(levels);
    if (rounds.size === 0) return outcomes > 0 || claimable > 0;
    return rounds.size < ROUNDS_MAX && outcomes + claimable >= 2 * WORTH_A_ROUND;
  }

  #begin(loop: ShardLoop, instance: string): void {
    const { levels, rounds } = loop;
    const outcomes = this.outbox.take(levels.shard, BATCH_MAX);
    const limit = this.#claimable(levels);
    const lend = this.#shards.length > 1 ? () => this.#wakeAll() : null;
    const promised = this.#slots.promise(limit, lend);
    const round = this.#round(levels, instance, outcomes, limit)
      .catch((error: unknown) => {
        loop.failure = error;
        return [];
      })
      .then((executions) => {
        // Claimed under an identity that was lost meanwhile: they are somebody else's by now.
        const ours = this.#options.instance(levels.shard) === instance;
        if (!ours) for (const { job } of executions) this.running.delete(job.id);
        this.#slots.accept(ours ? executions : [], promised());
        rounds.delete(round);
        loop.poller.wake();
        // Room that was promised and not used is for the other shards.
        if (this.#shards.length > 1 && executions.length < limit) this.#wakeAll();
      });
    rounds.add(round);
  }

  async #round(
    levels: Levels,
    instance: string,
    batch: Finished[],
    limit: number,
  ): Promise<Execution[]> {
    const plain = batch.every(
      (one) => isPlainSettlement(one) && !levels.notifiesSuccess(one.execution.job.queue),
    );
    if (batch.length === 0 || levels.limited || !plain) {
      await this.outbox.write(levels.shard, batch);
      for (const { execution } of batch) levels.tokensBack(execution.job);
      return limit > 0 ? this.#accept(levels, await levels.claim(limit, instance)) : [];
    }
    try {
      const { settled, jobs } = await levels.settleAndClaim(
        limit,
        instance,
        this.outbox.settlements(batch),
      );
      const executions = this.#accept(levels, jobs);
      await this.outbox.conclude(levels.shard, batch, settled);
      return executions;
    } catch (error) {
      // Nothing is known of either half: write the outcomes again, and find out there.
      this.outbox.putBack(levels.shard, batch);
      if (error instanceof DatabaseUnavailable) throw error;
      await this.outbox.write(levels.shard, this.outbox.take(levels.shard, batch.length));
      return [];
    }
  }

  /** A slot for a job that was only just made, if nothing better waits; see `DirectStart`. */
  reserve({ shard, queue }: Queue, rank: number): string | null {
    const instance = this.#options.instance(shard);
    const loop = this.#shards[shard];
    if (instance === null || !this.#slots.open || !loop?.poller.running) return null;
    if (!loop.levels.isIdle(queue, rank)) return null;
    this.#slots.promise(1, null);
    return instance;
  }

  /** Storing the job took its time, in which the lease may be lost: then the job is rescued. */
  begin({ shard }: Queue, job: ClaimedJob, instance: string): void {
    const ours = this.#options.instance(shard) === instance;
    const levels = ours ? this.#shards[shard]?.levels : undefined;
    this.#slots.accept(levels ? this.#accept(levels, [job]) : [], 1);
  }

  release(): void {
    this.#slots.accept([], 1);
  }

  #accept(levels: Levels, jobs: readonly ClaimedJob[]): Execution[] {
    return jobs.map((job) => {
      const execution = levels.executionOf(job, this.#options.cancelGraceMs);
      this.running.set(job.id, execution);
      this.#signals.claimed(execution);
      return execution;
    });
  }

  #giveBack(executions: readonly Execution[]): void {
    for (const execution of executions) {
      this.#finish(execution, { outcome: { kind: 'unstarted' }, usage: NO_USAGE });
    }
  }

  async #execute(execution: Execution): Promise<void> {
    const { queue, runners, journal, log } = this.#options;
    if (execution.over) return this.#giveBack([execution]);
    try {
      const given = await belongings(queue, execution);
      const source = runners.source(execution.definition);
      const runner = await source.acquire(execution.tenant);
      // Starting a process takes its time, in which the lease may be lost: to begin now would be to
      // run the job beside its next attempt.
      if (execution.over) {
        source.release(runner);
        return this.#giveBack([execution]);
      }
      this.#signals.begun(execution);
      const ended = await execution.run(runner, given, journal, this.#saveStep);
      source.release(runner);
      // Its last words come before its outcome; the slot does not wait for either.
      const closed = journal.close(execution);
      if (closed) void closed.then(() => this.#finish(execution, ended));
      else this.#finish(execution, ended);
    } catch (error) {
      if (error instanceof CannotOpen) return this.#finish(execution, unreadable(error));
      // It could not even be started: that is the machine's failure, and costs the job no attempt.
      log.warn({ ...lineFields(execution), err: error }, 'a job could not be started here');
      this.#giveBack([execution]);
      // Others may have it at once; here the slot rests, or a machine in trouble would do nothing else.
      await sleep(NO_RUNNER_PAUSE_MS);
    }
  }

  /** The slot is free as soon as the runner is, before the outcome is written. */
  #finish(execution: Execution, ended: Ended): void {
    this.#signals.ended(execution, ended);
    if (!execution.lost) this.outbox.add(execution, ended);
    // The next claim of the job may be here already, when this one was lost.
    if (this.running.get(execution.job.id) === execution) this.running.delete(execution.job.id);
    if (this.running.size === 0) this.#onIdle?.();
    this.#fenced.ended(execution);
    this.#wakeAll();
  }
}
