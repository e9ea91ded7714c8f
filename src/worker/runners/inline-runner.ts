import type { JobDefinition } from '../../core/definition/define.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AbortReason, FromRunner, RunCommand, SaveAnswer } from '../ipc.ts';
import { JobRun, type RunPort } from '../runner/job-run.ts';
import { byName, type Definitions } from '../runner/run.ts';
import { PLAIN_EXIT, type Runner, type RunnerEvents, type RunnerSource } from './runner.ts';

const PID = process.pid;

/**
 * Runs one job inside the worker, for definitions with `isolation: 'inline'`: trusted, tiny and
 * quick ones. It costs microseconds instead of a round trip, but it cannot be killed, has no memory
 * limit, and a busy job delays the worker's heartbeat.
 */
export class InlineRunner implements Runner, RunPort {
  readonly pid = PID;
  readonly alive = true;
  readonly nowMs: () => number;
  readonly publicUrl: string | null;
  readonly #definitions: Definitions;
  #events: RunnerEvents | undefined;
  #run: JobRun | undefined;

  constructor(definitions: Definitions, nowMs: () => number, publicUrl: string | null) {
    this.#definitions = definitions;
    this.nowMs = nowMs;
    this.publicUrl = publicUrl;
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    this.#events = events;
    this.#run = new JobRun({ ...command, params: JSON.parse(paramsJson) as unknown }, this);
    this.#run.start(this.#definitions);
  }

  send(message: FromRunner): void {
    if (message.type !== 'ready' && message.type !== 'idle') this.#events?.onMessage(message);
  }

  /** Inside the worker, usage cannot be assigned to a job. */
  onOutcome({ job: { claim } }: JobRun, outcome: Outcome): void {
    const unmeasured = { cpuMs: null, peakRssBytes: null, spent: false };
    this.#events?.onMessage({ type: 'outcome', claim, outcome, ...unmeasured });
  }

  forget(): void {
    this.#events = undefined;
  }

  abort(claim: number, reason: AbortReason): void {
    if (this.#run?.job.claim === claim) this.#run.abort(reason);
  }

  saved(claim: number, seq: number, answer: SaveAnswer): void {
    if (this.#run?.job.claim === claim) this.#run.answered(seq, answer);
  }

  /** Only the job itself can end; it is abandoned, and its messages no longer count. */
  terminate(): void {
    this.kill();
  }

  kill(): void {
    const events = this.#events;
    this.#events = undefined;
    events?.onExit(PLAIN_EXIT);
  }
}

/** A runner costs nothing here, so every job gets its own. */
export class InlineRunners implements RunnerSource {
  readonly #definitions: Definitions;
  readonly #nowMs: () => number;
  readonly #publicUrl: string | null;

  constructor(
    definitions: readonly JobDefinition[],
    clock: Clock,
    publicUrl: string | null = null,
  ) {
    this.#publicUrl = publicUrl;
    this.#definitions = byName(definitions);
    this.#nowMs = () => clock.now().getTime();
  }

  acquire(): Runner {
    return new InlineRunner(this.#definitions, this.#nowMs, this.#publicUrl);
  }

  release(runner: Runner): void {
    runner.forget();
  }
}
