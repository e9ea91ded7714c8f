import type { JobDefinition } from '../../core/definition/define.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AbortReason, Measured, RunCommand } from '../ipc.ts';
import { PLAIN_EXIT, type Runner, type RunnerEvents, type RunnerSource } from './runner.ts';
import { byName, type Definitions } from '../runner/run.ts';
import { RunnerSession } from '../runner/session.ts';

/** Inside the worker, usage cannot be assigned to a job. */
const UNMEASURED: Measured = { cpuMs: null, peakRssBytes: null, spent: false };

/**
 * Runs a job inside the worker, for definitions with `isolation: 'inline'`: trusted, tiny and quick
 * ones. It costs microseconds instead of a round trip, but it cannot be killed, has no memory
 * limit, and a busy job delays the worker's heartbeat.
 */
export class InlineRunner implements Runner {
  readonly pid = process.pid;
  readonly alive = true;
  readonly #session: RunnerSession;
  #events: RunnerEvents | undefined;

  constructor(definitions: Definitions, clock: Clock) {
    this.#session = new RunnerSession({
      definitions,
      nowMs: () => clock.now().getTime(),
      measure: () => () => UNMEASURED,
      send: (message) => {
        if (message.type !== 'ready' && message.type !== 'idle') this.#events?.onMessage(message);
      },
    });
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    this.#events = events;
    const job = { ...command, params: JSON.parse(paramsJson) as unknown };
    this.#session.receive({ type: 'run', job });
  }

  forget(): void {
    this.#events = undefined;
  }

  abort(claim: number, reason: AbortReason): void {
    this.#session.receive({ type: 'abort', claim, reason });
  }

  saved(claim: number, seq: number, problem: string | null): void {
    this.#session.receive({ type: 'saved', claim, seq, problem });
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
  readonly #clock: Clock;

  constructor(definitions: readonly JobDefinition[], clock: Clock) {
    this.#definitions = byName(definitions);
    this.#clock = clock;
  }

  acquire(): Runner {
    return new InlineRunner(this.#definitions, this.#clock);
  }

  release(runner: Runner): void {
    runner.forget();
  }
}
