import type { Outcome } from '../../core/job/lifecycle.ts';
import type { FromRunner, Measured, RunCommand, ToRunner } from '../ipc.ts';
import { JobRun, type RunPort } from './job-run.ts';
import type { Definitions } from './run.ts';

export interface SessionOptions {
  definitions: Definitions;
  send(message: FromRunner): void;
  nowMs(): number;
  /** The address of the server for links. */
  publicUrl?: string | undefined;
  /** A job arrives while another one still runs. */
  onDouble?(): void;
  /** Sets the secrets of a job in the environment. Later jobs of this runner have the same. */
  setSecrets(secrets: Readonly<Record<string, string>>): void;
  /** Starts to measure an attempt; the returned function reports its usage so far. */
  measure(): () => Measured;
}

/**
 * The runner's side of a process or thread: takes commands from the worker, one job at a time, and
 * answers each with one outcome.
 */
export class RunnerSession implements RunPort {
  readonly nowMs: () => number;
  readonly publicUrl: string | null;
  readonly #options: SessionOptions;
  #current: { run: JobRun; measured: () => Measured } | undefined;
  /** An error escaped, so the next outcome is the last. */
  #spent = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.nowMs = options.nowMs;
    this.publicUrl = options.publicUrl ?? null;
  }

  receive(message: ToRunner): void {
    if (message.type === 'run') return this.#begin(message.job);
    if (message.type === 'ask-idle') {
      return this.send({ type: 'idle', busy: this.#current !== undefined });
    }
    if (message.type === 'load') return;
    const run = this.#current?.run;
    if (run?.job.claim !== message.claim) return;
    if (message.type === 'abort') run.abort(message.reason);
    else run.answered(message.seq, message);
  }

  /**
   * An error that escaped the promise of its job: the running one, unless it is known to be
   * another. An error of an ended job is ignored: the next one must not fail for it. But the runner
   * is then not used again.
   */
  fail(error: unknown, owner?: RunCommand): void {
    this.#spent = true;
    const run = this.#current?.run;
    if (run && (!owner || owner === run.job)) run.fail(error);
  }

  send(message: FromRunner): void {
    this.#options.send(message);
  }

  onOutcome(run: JobRun, outcome: Outcome): void {
    const current = this.#current;
    if (current?.run !== run) return;
    this.#current = undefined;
    const measured = current.measured();
    const spent = measured.spent || this.#spent;
    this.send({ type: 'outcome', claim: run.job.claim, outcome, ...measured, spent });
  }

  #begin(job: RunCommand): void {
    const { definitions, measure, setSecrets, onDouble } = this.#options;
    // The worker received an outcome that did not come from here: code of the job forged it and
    // still runs.
    if (this.#current) onDouble?.();
    this.#current?.run.abandon();
    if (job.secrets) setSecrets(job.secrets);
    const run = new JobRun(job, this);
    this.#current = { run, measured: measure() };
    run.start(definitions);
  }
}
