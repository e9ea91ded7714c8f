import type { DefinitionInfo } from '../core/definition.ts';
import { hasSuccessHooks } from '../core/hooks.ts';
import { NO_USAGE } from '../core/job.ts';
import { CannotOpen } from '../core/sealed.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { sleep } from '../runtime/deadline.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { ClaimedJob } from '../store/claim.ts';
import { DatabaseUnavailable } from '../store/db.ts';
import type { HandOver } from '../store/hand-over.ts';
import type { Lane } from '../store/lanes.ts';
import type { LineHint } from '../store/wake.ts';
import { AttemptSignals, lineFields } from './attempt-signals.ts';
import { type Ended, type Execution, type SaveStep, unreadable } from './execution.ts';
import type { Journal } from './journal.ts';
import { Lines } from './lines.ts';
import { type Finished, Outbox } from './outbox.ts';
import type { QueuePort } from './port.ts';
import type { Runners } from './runners.ts';
import { Slots } from './slots.ts';
import { belongings, stepSaver } from './steps.ts';

export interface WorkLoopOptions {
  queue: QueuePort;
  runners: Pick<Runners, 'source'>;
  definitions: readonly DefinitionInfo[];
  journal: Journal;
  /** The current identity of this worker; null while it has no valid lease. */
  instance(): string | null;
  slots: number;
  pollMs: number;
  /** A line that got nothing for so long goes first once; 0 or nothing is never. */
  ageingMs?: number | undefined;
  cancelGraceMs: number;
  clock: Clock;
  log: Log;
  /** Which lines about jobs the log gets (`core/job-lines.ts`). */
  logJobs?: string | undefined;
}

const BATCH_MAX = 500;
const NO_RUNNER_PAUSE_MS = 1_000;
const TURNS_MAX = 3;
/** While one turn is under way, a second one starts only when it is worth a commit of its own. */
const WORTH_A_TURN = 100;

/**
 * The heart of a worker. A *turn* writes the outcomes that have gathered and claims as many jobs as
 * there is room for (`slots.ts`), in one statement where it can be. An idle worker takes a turn at
 * once when a hint, a finished job or the poll wakes it; a busy one gathers while a turn is under
 * way, so that its commits grow and their number does not.
 */
export class WorkLoop implements Service, HandOver {
  readonly name = 'work loop';
  /** What runs here right now, by job id. */
  readonly running = new Map<string, Execution>();
  readonly outbox: Outbox;
  readonly #options: WorkLoopOptions;
  readonly #shards: Lines[];
  readonly #poller: Poller;
  readonly #turns = new Set<Promise<void>>();
  readonly #slots: Slots;
  readonly #saveStep: SaveStep;
  readonly #signals: AttemptSignals;
  /** Attempts that were under way when the leases were lost, each with who waits for its end. */
  readonly #fenced = new Map<Execution, () => void>();
  #first = 0;
  #failure: unknown;
  #onIdle: (() => void) | undefined;

  constructor(options: WorkLoopOptions) {
    const { queue, definitions, clock, pollMs, ageingMs, log } = options;
    this.#options = options;
    this.#signals = new AttemptSignals(clock, log, options.logJobs);
    this.outbox = new Outbox(queue, clock, log, this.#signals);
    this.#shards = Array.from(
      { length: queue.shards },
      (_, shard) => new Lines(shard, queue, definitions, clock, pollMs, ageingMs),
    );
    this.#slots = new Slots({
      size: options.slots,
      clock,
      run: async (execution) => await this.#execute(execution),
      giveBack: (executions) => this.#giveBack(executions),
    });
    this.#saveStep = stepSaver(queue, log);
    this.#poller = new Poller({
      name: this.name,
      log,
      tick: async () => await this.#tick(),
      // A database that fails is asked as often as one that has no work, so its return is seen soon.
      maxRetryMs: Math.max(200, pollMs),
    });
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  /** Claims nothing more, and gives back what has not started. What runs goes on; see `drained`. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    await Promise.all(this.#turns);
    this.#giveBack(this.#slots.drop());
  }

  /**
   * The leases are lost: stop what runs. What has ended is still written, if its claim owns the job by
   * then. Resolves when nothing is left to stop or to write.
   */
  async fence(): Promise<void> {
    this.#giveBack(this.#slots.drop());
    const ends = [...this.running.values()].map(
      async (execution) =>
        await new Promise<void>((resolve) => this.#fenced.set(execution, resolve)),
    );
    for (const execution of this.running.values()) execution.fence();
    this.#options.journal.abandon();
    await Promise.all(ends);
    await this.outbox.written();
  }

  /** Some lines got work, as far as a hint can be believed. */
  hint(hints: readonly LineHint[]): void {
    for (const hint of hints) this.#shards[hint.shard]?.hint(hint);
    this.#poller.wake();
  }

  /** Hints may have been missed: look at the queue itself. */
  lookSoon(): void {
    for (const lines of this.#shards) lines.lookSoon();
    this.#poller.wake();
  }

  /** Resolves when nothing runs here any more. */
  async drained(): Promise<void> {
    if (this.running.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Starts the turns that are worth it now. A turn that failed makes the next one wait. */
  async #tick(): Promise<number> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    const instance = this.#options.instance();
    if (instance === null) return this.#options.pollMs;
    // Shards take turns at being asked first.
    this.#first += 1;
    for (let step = 0; step < this.#shards.length; step += 1) {
      const lines = this.#shards[(this.#first + step) % this.#shards.length];
      if (!lines) continue;
      await lines.lookIfDue();
      while (this.#worthTurn(lines)) this.#begin(lines, instance);
    }
    return Math.min(this.#options.pollMs, ...this.#shards.map((lines) => lines.opensInMs));
  }

  #claimable(lines: Lines): number {
    return lines.hasWork ? Math.max(0, Math.min(BATCH_MAX, this.#slots.room)) : 0;
  }

  #worthTurn(lines: Lines): boolean {
    const outcomes = this.outbox.count(lines.shard);
    const claimable = this.#claimable(lines);
    if (this.#turns.size === 0) return outcomes > 0 || claimable > 0;
    return this.#turns.size < TURNS_MAX && outcomes + claimable >= 2 * WORTH_A_TURN;
  }

  #begin(lines: Lines, instance: string): void {
    const outcomes = this.outbox.take(lines.shard, BATCH_MAX);
    const limit = this.#claimable(lines);
    this.#slots.promise(limit);
    const turn = this.#turn(lines, instance, outcomes, limit)
      .catch((error: unknown) => {
        this.#failure = error;
        return [];
      })
      .then((executions) => {
        // Claimed under an identity that was lost meanwhile: they are somebody else's by now.
        const ours = this.#options.instance() === instance;
        if (!ours) for (const { job } of executions) this.running.delete(job.id);
        this.#slots.accept(ours ? executions : [], limit);
        this.#turns.delete(turn);
        this.#poller.wake();
      });
    this.#turns.add(turn);
  }

  async #turn(
    lines: Lines,
    instance: string,
    batch: Finished[],
    limit: number,
  ): Promise<Execution[]> {
    const plain = batch.every((one) => isPlain(one) && !lines.tellsSuccess(one.execution.job.lane));
    if (batch.length === 0 || lines.gated || !plain) {
      await this.outbox.write(lines.shard, batch);
      for (const { execution } of batch) lines.tokensBack(execution.job);
      return limit > 0 ? this.#accept(lines, await lines.claim(limit, instance)) : [];
    }
    try {
      const { settled, jobs } = await lines.turn(limit, instance, this.outbox.settlements(batch));
      const executions = this.#accept(lines, jobs);
      await this.outbox.conclude(lines.shard, batch, settled);
      return executions;
    } catch (error) {
      // Nothing is known of either half: write the outcomes again, and find out there.
      this.outbox.putBack(lines.shard, batch);
      if (error instanceof DatabaseUnavailable) throw error;
      await this.outbox.write(lines.shard, this.outbox.take(lines.shard, batch.length));
      return [];
    }
  }

  /** A slot for a job that was only just made, if nothing better waits; see `HandOver`. */
  reserve({ shard, lane }: Lane, rank: number): string | null {
    const instance = this.#options.instance();
    if (instance === null || !this.#slots.open || !this.#poller.running) return null;
    if (!this.#shards[shard]?.isIdle(lane, rank)) return null;
    this.#slots.promise(1);
    return instance;
  }

  begin({ shard }: Lane, job: ClaimedJob): void {
    const lines = this.#shards[shard];
    this.#slots.accept(lines ? this.#accept(lines, [job]) : [], 1);
  }

  release(): void {
    this.#slots.accept([], 1);
  }

  #accept(lines: Lines, jobs: readonly ClaimedJob[]): Execution[] {
    return jobs.map((job) => {
      const execution = lines.executionOf(job, this.#options.cancelGraceMs);
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
    const { id } = execution.job;
    if (this.running.get(id) === execution) this.running.delete(id);
    if (this.running.size === 0) this.#onIdle?.();
    this.#fenced.get(execution)?.();
    this.#fenced.delete(execution);
    this.#poller.wake();
  }
}

/** A success without hooks or tokens that nobody asked to stop: quick because it is common. */
function isPlain({ execution: { state, definition, job }, ended, refused }: Finished): boolean {
  const succeeded = state === 'running' && ended.outcome.kind === 'success';
  return succeeded && !hasSuccessHooks(definition) && !job.gated && !refused;
}
