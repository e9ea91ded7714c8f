import type { JobContext } from '../../core/definition/define.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import { atTraceContext } from '../../signals/active-trace.ts';
import type { AbortReason, FromRunner, RunCommand, SaveAnswer } from '../ipc.ts';
import { createContext, type RunContext, type Surroundings } from './context.ts';
import { failureFrom } from './context/failed-steps.ts';
import { type Definitions, endingOutcome, runJob, type Running, thrown } from './run.ts';

/** Where the reports and the outcome of a job go. */
export interface RunPort {
  readonly nowMs: () => number;
  readonly publicUrl: string | null;
  readonly sharesProcess: boolean;
  send(message: FromRunner): void;
  onOutcome(run: JobRun, outcome: Outcome): void;
}

/** One job in its runner: its context, its abort signal and its one outcome. */
export class JobRun implements Surroundings, Running {
  readonly job: RunCommand;
  readonly startedMs: number;
  readonly #port: RunPort;
  #made: RunContext | undefined;
  #controller: AbortController | undefined;
  #over = false;

  constructor(job: RunCommand, port: RunPort) {
    this.job = job;
    this.startedMs = job.saved ? performance.now() : 0;
    this.#port = port;
    if (job.asked !== undefined) this.abort(job.asked);
  }

  /** Made on first use, like the signal. */
  get ctx(): JobContext {
    this.#made ??= createContext(this.job, this);
    return this.#made.ctx;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  get nowMs(): () => number {
    return this.#port.nowMs;
  }

  get publicUrl(): string | null {
    return this.#port.publicUrl;
  }

  get sharesProcess(): boolean {
    return this.#port.sharesProcess;
  }

  /** Remains of an ended job may still send messages, with the same claim number. */
  send(message: FromRunner): void {
    if (!this.#over) this.#port.send(message);
  }

  start(definitions: Definitions): void {
    const { traceparent } = this.job;
    const outcome =
      traceparent === undefined ? this.#run(definitions) : this.#traced(traceparent, definitions);
    if (outcome instanceof Promise) void outcome.then((late) => this.end(late));
    else this.end(outcome);
  }

  #run(definitions: Definitions): Outcome | Promise<Outcome> {
    return runJob(definitions, this, this.#port.nowMs);
  }

  async #traced(traceparent: string, definitions: Definitions): Promise<Outcome> {
    return await atTraceContext(traceparent, async () => await this.#run(definitions));
  }

  abort(reason: AbortReason): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new DOMException(`the job was asked to stop: ${reason}`, 'AbortError'));
  }

  /** The worker's answer to a save or spawn. */
  answered(seq: number, answer: SaveAnswer): void {
    this.#made?.answered(seq, answer);
  }

  fail(error: unknown): void {
    this.#made?.escaped(error);
    this.#end(failureFrom(this.job, error, this.#port.nowMs()));
  }

  /** Nothing of it counts any more. */
  abandon(): void {
    this.#over = true;
  }

  /** Once: what comes after the outcome is dropped. Waits that were begun count first. */
  end(outcome: Outcome): void {
    if (this.#over) return;
    const late = outcome.kind === 'success' ? (this.#made?.returned() ?? null) : null;
    if (late === null) return this.#end(outcome);
    const { nowMs } = this.#port;
    void late.then(
      () => this.#end(outcome),
      (error: unknown) => this.#end(thrown(this.job, error, nowMs)),
    );
  }

  #end(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    const ending = this.#made?.ending() ?? null;
    this.#port.onOutcome(this, ending === null ? outcome : endingOutcome(ending));
  }
}
