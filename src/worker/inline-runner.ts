import type { JobDefinition } from '../core/define.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AbortReason, RunCommand } from './ipc.ts';
import type { Runner, RunnerEvents, RunnerSource } from './runner.ts';
import { createContext } from './runner/context.ts';
import { runJob } from './runner/run.ts';

/**
 * Runs a job inside the worker, for definitions that say `isolation: 'inline'`: trusted, tiny and
 * quick ones. It costs microseconds instead of a round trip, and gives up what a process gives: it
 * cannot be killed, has no memory limit, and a busy one delays the worker's heartbeat.
 */
export class InlineRunner implements Runner {
  readonly pid = process.pid;
  readonly alive = true;
  readonly #definitions: ReadonlyMap<string, JobDefinition>;
  readonly #clock: Clock;
  #events: RunnerEvents | undefined;
  #abort: AbortController | undefined;

  constructor(definitions: ReadonlyMap<string, JobDefinition>, clock: Clock) {
    this.#definitions = definitions;
    this.#clock = clock;
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    this.#events = events;
    const name = `${command.key}@${command.version}`;
    const job = { ...command, params: JSON.parse(paramsJson) as unknown };
    const ctx = createContext(
      job,
      () => (this.#abort ??= new AbortController()).signal,
      (message) => {
        if (message.type !== 'ready') this.#events?.onMessage(message);
      },
    );
    const nowMs = () => this.#clock.now().getTime();
    void runJob(this.#definitions.get(name), name, job.params, ctx, nowMs).then((outcome) => {
      const usage = { cpuMs: null, peakRssBytes: null };
      this.#events?.onMessage({ type: 'outcome', claim: command.claim, outcome, ...usage });
    });
  }

  forget(): void {
    this.#events = undefined;
  }

  abort(_claim: number, reason: AbortReason): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(new DOMException(`the job was asked to stop: ${reason}`, 'AbortError'));
  }

  /** Nothing but the job itself can end it; it is given up, and its word no longer counts. */
  terminate(): void {
    this.kill();
  }

  kill(): void {
    const events = this.#events;
    this.#events = undefined;
    events?.onExit({ code: null, signal: null });
  }
}

/** A runner costs nothing here, so every job gets its own. */
export class InlineRunners implements RunnerSource {
  readonly #definitions: ReadonlyMap<string, JobDefinition>;
  readonly #clock: Clock;

  constructor(definitions: readonly JobDefinition[], clock: Clock) {
    this.#definitions = new Map(definitions.map((one) => [`${one.key}@${one.version}`, one]));
    this.#clock = clock;
  }

  acquire(): Runner {
    return new InlineRunner(this.#definitions, this.#clock);
  }

  release(runner: Runner): void {
    runner.forget();
  }
}
