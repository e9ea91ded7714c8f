import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { NO_USAGE } from '../../core/job/job.ts';
import { CannotOpen } from '../../core/access/sealed.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Service } from '../../runtime/service.ts';
import type { ClaimedJob } from '../../store/claim/claim.ts';
import type { DirectStart } from '../../store/enqueue/direct-start.ts';
import type { Queue } from '../../store/enqueue/queues.ts';
import type { LevelHint } from '../../store/connection/wake.ts';
import { AttemptSignals, lineFields } from '../attempt/attempt-signals.ts';
import { type Ended, type Execution, type SaveStep, unreadable } from '../attempt/execution.ts';
import { Fenced } from '../fenced.ts';
import type { Journal } from '../attempt/journal.ts';
import type { Levels } from './levels.ts';
import { Outbox } from '../attempt/outbox.ts';
import type { QueuePort } from './port.ts';
import { runRound } from './round.ts';
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
  /** A level without a claimed job for this long goes first once; 0 or undefined is never. */
  ageingMs?: number | undefined;
  cancelGraceMs: number;
  clock: Clock;
  log: Log;
  /** What is logged about jobs (`core/views/job-log.ts`). */
  logJobs?: string | undefined;
}

const BATCH_MAX = 500;
const NO_RUNNER_PAUSE_MS = 1_000;
const ROUNDS_MAX = 3;
/** While one round is in progress, a second one starts only when it is worth its own commit. */
const WORTH_A_ROUND = 100;

/**
 * The main loop of a worker. A *round* (`round.ts`) writes the finished outcomes and claims as many jobs as
 * there are free slots (`slots.ts`). An idle worker runs a round at once when a hint, a finished job or the
 * poll wakes it. A busy one collects outcomes while a round is in progress, so that commits grow in size,
 * not in number.
 *
 * Each shard has its own loop, so that a slow or failing shard does not delay the others. All share the
 * slots.
 */
export class WorkLoop implements Service, DirectStart {
  readonly name = 'work loop';
  /** Running jobs, by job id. */
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

  /** Stops claiming and gives back the jobs that have not started. Running jobs continue; see `drained`. */
  async stop(): Promise<void> {
    await Promise.all(this.#shards.map(async ({ poller }) => await poller.stop()));
    await Promise.all(this.#shards.flatMap(({ rounds }) => [...rounds]));
    this.#giveBack(this.#slots.drop());
  }

  /**
   * The lease of a shard is lost: stops its running jobs. Finished outcomes are still written, if their
   * claims own the jobs by then. Resolves when nothing is left to stop or to write.
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

  /** Some levels probably have new jobs. */
  hint(hints: readonly LevelHint[]): void {
    for (const hint of hints) {
      const shard = this.#shards[hint.shard];
      shard?.levels.hint(hint);
      shard?.poller.wake();
    }
  }

  /** Hints may have been missed: poll the queue. */
  pollSoon(): void {
    for (const { levels } of this.#shards) levels.pollSoon();
    this.#wakeAll();
  }

  /** Slots may be free. The shard that is woken first rotates. */
  #wakeAll(): void {
    const { length } = this.#shards;
    this.#first = (this.#first + 1) % length;
    for (let step = 0; step < length; step += 1) {
      this.#shards[(this.#first + step) % length]?.poller.wake();
    }
  }

  /** Resolves when no job is running here. */
  async drained(): Promise<void> {
    if (this.running.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Starts the rounds that are worth it. After a failed round it throws, so the poller waits. */
  async #tick(loop: ShardLoop): Promise<number> {
    const { failure, levels } = loop;
    loop.failure = undefined;
    if (failure !== undefined) throw failure;
    const instance = this.#options.instance(levels.shard);
    if (instance === null) return this.#options.pollMs;
    await levels.pollIfDue();
    while (this.#worthRound(loop)) this.#begin(loop, instance);
    return Math.min(this.#options.pollMs, levels.opensInMs);
  }

  #claimable(levels: Levels): number {
    return levels.hasWork ? Math.max(0, Math.min(BATCH_MAX, this.#slots.room)) : 0;
  }

  #worthRound({ levels, rounds }: ShardLoop): boolean {
    const outcomes = this.outbox.count(levels.shard);
    const claimable = this.#claimable(levels);
    if (rounds.size === 0) return outcomes > 0 || claimable > 0;
    return rounds.size < ROUNDS_MAX && outcomes + claimable >= 2 * WORTH_A_ROUND;
  }

  #begin(loop: ShardLoop, instance: string): void {
    const { levels, rounds } = loop;
    const batch = this.outbox.take(levels.shard, BATCH_MAX);
    const limit = this.#claimable(levels);
    const lend = this.#shards.length > 1 ? () => this.#wakeAll() : null;
    const promised = this.#slots.promise(limit, lend);
    const accept = (jobs: readonly ClaimedJob[]) => this.#accept(levels, jobs);
    const { outbox } = this;
    const round = runRound({ outbox, levels, instance, batch, limit, accept })
      .catch((error: unknown) => {
        loop.failure = error;
        return [];
      })
      .then((executions) => {
        // The lease was lost meanwhile: the reaper gives these jobs to other workers.
        const ours = this.#options.instance(levels.shard) === instance;
        if (!ours) for (const { job } of executions) this.running.delete(job.id);
        this.#slots.accept(ours ? executions : [], promised());
        rounds.delete(round);
        loop.poller.wake();
        // Slots that were promised and not used are for the other shards.
        if (this.#shards.length > 1 && executions.length < limit) this.#wakeAll();
      });
    rounds.add(round);
  }

  /** A slot for a job that is being enqueued, if no better job waits; see `DirectStart`. */
  reserve({ shard, queue }: Queue, rank: number): string | null {
    const instance = this.#options.instance(shard);
    const loop = this.#shards[shard];
    if (instance === null || !this.#slots.open || !loop?.poller.running) return null;
    if (!loop.levels.isIdle(queue, rank)) return null;
    this.#slots.promise(1, null);
    return instance;
  }

  /** If the lease was lost while the job was stored, the reaper rescues the job. */
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
      // If the lease was lost while the process started, the next attempt may be running elsewhere.
      if (execution.over) {
        source.release(runner);
        return this.#giveBack([execution]);
      }
      this.#signals.begun(execution);
      const ended = await execution.run(runner, given, journal, this.#saveStep);
      source.release(runner);
      // Its last log lines are written before its outcome; the slot waits for neither.
      const closed = journal.close(execution);
      if (closed) void closed.then(() => this.#finish(execution, ended));
      else this.#finish(execution, ended);
    } catch (error) {
      if (error instanceof CannotOpen) return this.#finish(execution, unreadable(error));
      // A failed start is the fault of this machine and costs the job no attempt.
      log.warn({ ...lineFields(execution), err: error }, 'a job could not be started here');
      this.#giveBack([execution]);
      // Other workers may claim it at once; this slot pauses, or a broken machine would claim in a loop.
      await sleep(NO_RUNNER_PAUSE_MS);
    }
  }

  /** The slot is free as soon as the runner is, before the outcome is written. */
  #finish(execution: Execution, ended: Ended): void {
    this.#signals.ended(execution, ended);
    if (!execution.lost) this.outbox.add(execution, ended);
    // If this claim was lost, the next claim of the job may already run here.
    if (this.running.get(execution.job.id) === execution) this.running.delete(execution.job.id);
    if (this.running.size === 0) this.#onIdle?.();
    this.#fenced.ended(execution);
    this.#wakeAll();
  }
}
