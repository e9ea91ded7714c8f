import { randomInt } from 'node:crypto';
import { parseMessage } from './parse-message.ts';
import type { JobMessage, RunnerEvents, RunnerExit, RunnerReport } from './runner.ts';

/** The most that `randomInt` draws from. */
const RUN_MAX = 2 ** 48 - 1;

export type OutcomeMessage = Extract<JobMessage, { type: 'outcome' }>;

/** Whoever handles an outcome tells it when all that came before it has been told. */
export type OutcomeHandler = (
  message: OutcomeMessage,
  report: (message: OutcomeMessage) => void,
) => void;

/**
 * What a runner says, and to whom it is told. A word counts for the job that the runner has now, by
 * a number that is drawn at random for each run: what an earlier job left in the process cannot guess
 * it. Once a job has its outcome, nothing more is believed about it.
 */
export class RunnerChannel {
  /** Resolves when the definitions are loaded. */
  readonly report: Promise<RunnerReport>;
  readonly #onOutcome: OutcomeHandler;
  readonly #onIdle: (busy: boolean) => void;
  #reported: ((report: RunnerReport) => void) | undefined;
  #events: RunnerEvents | undefined;
  #run: number | null = null;
  #claim = 0;
  #exit: RunnerExit | undefined;

  constructor(onOutcome: OutcomeHandler, onIdle: (busy: boolean) => void = () => undefined) {
    this.#onOutcome = onOutcome;
    this.#onIdle = onIdle;
    this.report = new Promise((resolve) => (this.#reported = resolve));
  }

  /** Answers with the number that stands for the claim on the way to the runner and back. */
  begin(claim: number, events: RunnerEvents): number {
    const run = randomInt(RUN_MAX);
    this.#run = run;
    this.#claim = claim;
    this.#events = events;
    if (this.#exit) this.exit(this.#exit);
    return run;
  }

  /** Null when the runner is not at this claim. */
  runOf(claim: number): number | null {
    return this.#claim === claim ? this.#run : null;
  }

  /** Nobody listens any more. */
  forget(): void {
    this.#run = null;
    this.#events = undefined;
  }

  /** False when this is nothing that a runner would say. */
  receive(line: string): boolean {
    const message = parseMessage(line);
    if (!message) return false;
    if (message.type === 'ready') {
      this.#reported?.(message);
      this.#reported = undefined;
      return true;
    }
    if (message.type === 'idle') {
      this.#onIdle(message.busy);
      return true;
    }
    if (message.claim !== this.#run) return true;
    const events = this.#events;
    const about = { ...message, claim: this.#claim };
    if (about.type === 'outcome') {
      this.#run = null;
      this.#onOutcome(about, (outcome) => events?.onMessage(outcome));
    } else {
      events?.onMessage(about);
    }
    return true;
  }

  output(stream: 'stdout' | 'stderr', line: string): void {
    this.#events?.onOutput(stream, line);
  }

  /** The runner is gone. A job that has its outcome is not told. */
  exit(exit: RunnerExit): void {
    this.#exit = exit;
    if (this.#run === null) return;
    const events = this.#events;
    this.forget();
    queueMicrotask(() => events?.onExit(exit));
  }
}
