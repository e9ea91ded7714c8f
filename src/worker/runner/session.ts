import { classify } from '../../core/failure/classify.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import type { FromRunner, Measured, RunCommand, ToRunner } from '../ipc.ts';
import { createContext, type RunContext } from './context.ts';
import { type Definitions, runJob } from './run.ts';

export interface SessionOptions {
  definitions: Definitions;
  send(message: FromRunner): void;
  nowMs(): number;
  /** A job arrives while another one still runs. */
  onDouble?(): void;
  /** Starts to measure an attempt; the returned function reports its usage so far. */
  measure(): () => Measured;
}

interface Current {
  job: RunCommand;
  context: RunContext;
  abort(reason: string): void;
  measured(): Measured;
}

/**
 * The runner's side of a job: takes commands from the worker, one job at a time, and answers each
 * with one outcome. Processes, threads and the worker itself use it; they differ only in how
 * messages are sent.
 */
export class RunnerSession {
  readonly #options: SessionOptions;
  #current: Current | undefined;
  /** An error escaped, so the next outcome is the last. */
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
   * An error that escaped the promise of its job: the running one, unless it is known to be
   * another. An error of an ended job is ignored: the next one must not fail for it. But the runner
   * is then not used again.
   */
  fail(error: unknown, owner?: RunCommand): void {
    this.#spent = true;
    const current = this.#current;
    if (!current || (owner && owner !== current.job)) return;
    this.#answer(current, { kind: 'failure', ...classify(error, this.#options.nowMs()) });
  }

  async #run(job: RunCommand): Promise<void> {
    const { definitions, measure, nowMs, onDouble } = this.#options;
    // The worker received an outcome that did not come from here: code of the job forged it and
    // still runs.
    if (this.#current) onDouble?.();
    let controller: AbortController | undefined;
    const signal = () => (controller ??= new AbortController()).signal;
    // Remains of an ended job may still send messages with the same claim number.
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

  /** Most jobs are part of no trace, and their process need not load tracing. */
  async #placed(job: RunCommand, run: () => Promise<Outcome>): Promise<Outcome> {
    if (job.traceparent === undefined) return await run();
    const { atTraceContext } = await import('../../signals/active-trace.ts');
    return await atTraceContext(job.traceparent, run);
  }

  /** Once: what comes after the outcome is dropped. */
  #answer(current: Current, outcome: Outcome): void {
    if (this.#current !== current) return;
    this.#current = undefined;
    const { claim } = current.job;
    const measured = current.measured();
    const spent = measured.spent || this.#spent;
    this.#options.send({ type: 'outcome', claim, outcome, ...measured, spent });
  }
}
