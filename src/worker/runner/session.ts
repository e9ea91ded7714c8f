import { classify } from '../../core/failure/classify.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import type { FromRunner, Measured, RunCommand, ToRunner } from '../ipc.ts';
import { createContext, type RunContext } from './context.ts';
import { type Definitions, runJob } from './run.ts';

export interface SessionOptions {
  definitions: Definitions;
  send(message: FromRunner): void;
  nowMs(): number;
  /** A job is given while another one still runs. */
  onDouble?(): void;
  /** Begins to measure an attempt; what it answers tells what the attempt used so far. */
  measure(): () => Measured;
}

interface Current {
  job: RunCommand;
  context: RunContext;
  abort(reason: string): void;
  measured(): Measured;
}

/**
 * The side of a job: it takes commands from the worker, one job at a time, and answers each with
 * one outcome. A process, a thread and the worker itself all run jobs by this; they differ only in
 * how messages travel.
 */
export class RunnerSession {
  readonly #options: SessionOptions;
  #current: Current | undefined;
  /** An error escaped here, so the next outcome is the last. */
  #spent = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  receive(message: ToRunner): void {
    if (message.type === 'run') return void this.#run(message.job);
    if (message.type === 'ask-idle') {
      return this.#options.send({ type: 'idle', busy: this.#current !== undefined });
    }
    const current = this.#current;
    if (current?.job.claim !== message.claim) return;
    if (message.type === 'abort') current.abort(message.reason);
    else current.context.answered(message.seq, message.problem);
  }

  /**
   * An error that escaped the promise of its job, which is the one that runs unless it is known to be
   * another. Of a job that has ended it is nobody's: the next one must not fail for it. But where an
   * error escaped is in doubt, and not used for one more.
   */
  fail(error: unknown, owner?: RunCommand): void {
    this.#spent = true;
    const current = this.#current;
    if (!current || (owner && owner !== current.job)) return;
    this.#answer(current, { kind: 'failure', ...classify(error, this.#options.nowMs()) });
  }

  async #run(job: RunCommand): Promise<void> {
    const { definitions, measure, nowMs, onDouble } = this.#options;
    // The worker heard an outcome that did not come from here: code of the job made it up and goes on.
    if (this.#current) onDouble?.();
    let controller: AbortController | undefined;
    const signal = () => (controller ??= new AbortController()).signal;
    // What is left of an ended job may speak on, as if it were the next one: their numbers are alike.
    const send = (message: FromRunner) => {
      if (this.#current === current) this.#options.send(message);
    };
    const around = { signal, send };
    const context = createContext(job, around);
    const abort = (reason: string) => {
      controller ??= new AbortController();
      controller.abort(new DOMException(`the job was asked to stop: ${reason}`, 'AbortError'));
    };
    const current: Current = { job, context, abort, measured: measure() };
    this.#current = current;
    const run = async () => await runJob(definitions, job, context.ctx, around, nowMs);
    this.#answer(current, await this.#placed(job, run));
  }

  /** Most jobs are part of no trace, and their process need not know what one is. */
  async #placed(job: RunCommand, run: () => Promise<Outcome>): Promise<Outcome> {
    if (job.traceparent === undefined) return await run();
    const { atTraceContext } = await import('../../signals/active-trace.ts');
    return await atTraceContext(job.traceparent, run);
  }

  /** Once: what comes after the outcome is nobody's. */
  #answer(current: Current, outcome: Outcome): void {
    if (this.#current !== current) return;
    this.#current = undefined;
    const { claim } = current.job;
    const measured = current.measured();
    const spent = measured.spent || this.#spent;
    this.#options.send({ type: 'outcome', claim, outcome, ...measured, spent });
  }
}
