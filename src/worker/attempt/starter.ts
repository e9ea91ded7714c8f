import { CannotOpen } from '../../core/access/sealed.ts';
import { NO_USAGE } from '../../core/job/job.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import type { WorkQueue } from '../claim/work-queue.ts';
import type { Runner, RunnerSource } from '../runners/runner.ts';
import type { Runners } from '../runners/runners.ts';
import { type AttemptSignals, lineFields } from './attempt-signals.ts';
import {
  type AttemptInput,
  type AttemptPort,
  type Ended,
  type Execution,
  unreadable,
} from './execution.ts';
import type { Journal } from './journal.ts';
import { ownerOf } from './secrets.ts';
import { spawner } from './spawner.ts';
import { attemptInput, stepSaver } from './steps.ts';

export interface StarterOptions {
  queue: WorkQueue;
  runners: Pick<Runners, 'source'>;
  journal: Journal;
  signals: AttemptSignals;
  log: Log;
  /** Its outcome can be written. */
  onEnd(execution: Execution, ended: Ended): void;
  /** Its slot is free; it does not wait for the log of the job. */
  onFree(execution: Execution): void;
}

const UNSTARTED: Ended = { outcome: { kind: 'unstarted' }, usage: NO_USAGE };
const NO_RUNNER_PAUSE_MS = 1_000;

/**
 * Starts claimed jobs: reads their input, takes a runner and returns it at the end. For a first
 * attempt inside the worker nothing of this waits, and no promise is made.
 */
export class Starter {
  readonly #options: StarterOptions;
  readonly #port: AttemptPort;

  constructor(options: StarterOptions) {
    this.#options = options;
    this.#port = {
      events: options.journal,
      saveStep: stepSaver(options.queue, options.log),
      spawn: spawner(options.queue, options.log),
      streamMaxBytes: options.journal.streamMaxBytes,
      onEnd: (execution, runner, ended) => this.#ended(execution, runner, ended),
    };
  }

  /** Calls `onEnd` and `onFree` once, maybe before it returns. */
  start(execution: Execution): void {
    if (execution.over) return this.#end(execution, UNSTARTED);
    try {
      const input = attemptInput(this.#options.queue, execution);
      if (input instanceof Promise) return void this.#startLater(execution, input);
      const source = this.#options.runners.source(execution.definition);
      const runner = source.acquire(ownerOf(execution.tenant, input.secrets));
      if (runner instanceof Promise) return void this.#startLater(execution, input, runner);
      this.#run(execution, source, runner, input);
    } catch (error) {
      void this.#failed(execution, error);
    }
  }

  async #startLater(
    execution: Execution,
    input: AttemptInput | Promise<AttemptInput>,
    runner?: Promise<Runner>,
  ): Promise<void> {
    try {
      const ready = await input;
      const source = this.#options.runners.source(execution.definition);
      const owner = ownerOf(execution.tenant, ready.secrets);
      const acquired = await (runner ?? source.acquire(owner));
      this.#run(execution, source, acquired, ready);
    } catch (error) {
      await this.#failed(execution, error);
    }
  }

  #run(execution: Execution, source: RunnerSource, runner: Runner, input: AttemptInput): void {
    // If the lease was lost while the process started, the next attempt may be running elsewhere.
    if (execution.over) {
      source.release(runner);
      return this.#end(execution, UNSTARTED);
    }
    this.#options.signals.begun(execution);
    execution.run(runner, input, this.#port);
  }

  #ended(execution: Execution, runner: Runner, ended: Ended): void {
    const { runners, journal, onEnd, onFree } = this.#options;
    try {
      runners.source(execution.definition).release(runner);
      // Its last log lines are written before its outcome; the slot waits for neither.
      const closed = journal.close(execution);
      if (!closed) return this.#end(execution, ended);
      void closed.then(() => onEnd(execution, ended));
    } catch (error) {
      return void this.#failed(execution, error);
    }
    onFree(execution);
  }

  #end(execution: Execution, ended: Ended): void {
    this.#options.onEnd(execution, ended);
    this.#options.onFree(execution);
  }

  async #failed(execution: Execution, error: unknown): Promise<void> {
    const { log, onEnd, onFree } = this.#options;
    if (error instanceof CannotOpen) return this.#end(execution, unreadable(error));
    // A failed start is the fault of this machine and costs the job no attempt.
    log.warn({ ...lineFields(execution), err: error }, 'a job could not be started here');
    onEnd(execution, UNSTARTED);
    // Other workers may claim it at once; this slot pauses, or a broken machine would claim in a loop.
    await sleep(NO_RUNNER_PAUSE_MS);
    onFree(execution);
  }
}
