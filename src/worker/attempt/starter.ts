import { NO_USAGE } from '../../core/job/job.ts';
import { FIRST_SHAPE, newerShapeDelayMs } from '../../core/shape/upgrade.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import type { WorkQueue } from '../claim/work-queue.ts';
import { GroupMember, RunnerGroup } from '../runners/runner-group.ts';
import type { Runner, RunnerSource } from '../runners/runner.ts';
import type { Runners } from '../runners/runners.ts';
import { type AttemptSignals, lineFields } from './attempt-signals.ts';
import { type AttemptInput, type AttemptPort, type Ended, type Execution } from './execution.ts';
import { isStorageDown, unreadable } from './unreadable.ts';
import { Gathering } from './gathering.ts';
import type { Journal } from './journal.ts';
import { storeResult } from './large-results.ts';
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
  readonly #gathering = new Gathering((executions) => void this.#startGroup(executions));

  constructor(options: StarterOptions) {
    this.#options = options;
    this.#port = {
      events: options.journal,
      saveStep: stepSaver(options.queue, options.log),
      spawn: spawner(options.queue, options.log),
      streamMaxBytes: options.journal.streamMaxBytes,
      get resultMaxBytes() {
        return options.queue.resultMaxBytes;
      },
      onEnd: (execution, runner, ended) => this.#ended(execution, runner, ended),
    };
  }

  /** Calls `onEnd` and `onFree` once, maybe before it returns. */
  start(execution: Execution): void {
    if (execution.over) return this.#end(execution, UNSTARTED);
    if (hasNewerShape(execution)) return this.#wait(execution);
    const { group } = execution.definition;
    if (group) return this.#gathering.add(execution, group);
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

  /** No slot is free, so groups cannot grow. */
  startGroups(): void {
    this.#gathering.flush();
  }

  /** Returns jobs that wait for others of their group, of all shards or of one. */
  returnGathered(shard?: number): void {
    for (const execution of this.#gathering.drop(shard)) this.#end(execution, UNSTARTED);
  }

  async #startGroup(executions: readonly Execution[]): Promise<void> {
    const ready: { execution: Execution; input: AttemptInput; owner: string }[] = [];
    for (const execution of executions) {
      try {
        const input = await attemptInput(this.#options.queue, execution);
        ready.push({ execution, input, owner: ownerOf(execution.tenant, input.secrets) });
      } catch (error) {
        void this.#failed(execution, error);
      }
    }
    // Secrets may have changed between two claims.
    for (const [owner, items] of Map.groupBy(ready, (one) => one.owner)) {
      await this.#runGroup(owner, items);
    }
  }

  async #runGroup(
    owner: string,
    items: readonly { execution: Execution; input: AttemptInput }[],
  ): Promise<void> {
    const [first] = items;
    if (!first) return;
    try {
      const source = this.#options.runners.source(first.execution.definition);
      const runner = await source.acquire(owner);
      const [over, open] = [true, false].map((is) =>
        items.filter(({ execution }) => execution.over === is),
      );
      for (const { execution } of over ?? []) this.#end(execution, UNSTARTED);
      if (!open || open.length === 0) return source.release(runner);
      const group = new RunnerGroup(runner, open.length, () => source.release(runner));
      for (const [index, { execution, input }] of open.entries()) {
        const member = group.members[index];
        this.#options.signals.begun(execution);
        if (member) execution.run(member, input, this.#port);
      }
    } catch (error) {
      for (const { execution } of items) void this.#failed(execution, error);
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
    const { queue, runners, journal, log, onEnd, onFree } = this.#options;
    try {
      if (runner instanceof GroupMember) runner.release();
      else runners.source(execution.definition).release(runner);
      // Its last log lines are written before its outcome; the slot waits for neither.
      const closed = journal.close(execution);
      const stored = storeResult(queue.large, execution, ended, log);
      if (!closed && !stored) return this.#end(execution, ended);
      void Promise.all([closed, stored]).then(([, kept]) => onEnd(execution, kept ?? ended));
    } catch (error) {
      return void this.#failed(execution, error);
    }
    onFree(execution);
  }

  /** Its params are newer than this code: it waits for a worker with newer code. */
  #wait(execution: Execution): void {
    const { job, definition } = execution;
    const shapes = { paramsShape: job.policy?.paramsShape, codeShape: definition.paramsShape };
    const said = 'the params of a job are newer than the code of this worker: the job waits';
    this.#options.log.warn({ ...lineFields(execution), ...shapes }, said);
    const delayMs = newerShapeDelayMs(job.claim);
    this.#end(execution, { outcome: { kind: 'snoozed', delayMs }, usage: NO_USAGE });
  }

  #end(execution: Execution, ended: Ended): void {
    this.#options.onEnd(execution, ended);
    this.#options.onFree(execution);
  }

  async #failed(execution: Execution, error: unknown): Promise<void> {
    const { log, onEnd, onFree } = this.#options;
    const ended = unreadable(error);
    if (ended) {
      if (isStorageDown(error)) {
        log.warn({ ...lineFields(execution), err: error }, 'a job waits for the storage');
      }
      return this.#end(execution, ended);
    }
    // A failed start is the fault of this machine and costs the job no attempt.
    log.warn({ ...lineFields(execution), err: error }, 'a job could not be started here');
    onEnd(execution, UNSTARTED);
    // Other workers may claim it at once; this slot pauses, or a broken machine would claim in a loop.
    await sleep(NO_RUNNER_PAUSE_MS);
    onFree(execution);
  }
}

/** Only a job with a policy can have another shape than the first. */
function hasNewerShape({ job: { policy }, definition }: Execution): boolean {
  const shape = policy?.paramsShape;
  return shape !== undefined && shape > (definition.paramsShape ?? FIRST_SHAPE);
}
