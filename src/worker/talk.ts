import { heard } from './heard.ts';
import type { JobMessage, RunnerEvents, RunnerExit, RunnerReport } from './runner.ts';

export type OutcomeMessage = Extract<JobMessage, { type: 'outcome' }>;

/** Whoever handles an outcome tells it when all that came before it has been told. */
export type OutcomeHandler = (
  message: OutcomeMessage,
  tell: (message: OutcomeMessage) => void,
) => void;

/**
 * What a runner says, and to whom it is told. A word counts for the job that the runner has now, by
 * its claim number; once a job has its outcome, nothing more is believed about it.
 */
export class Talk {
  /** Resolves when the definitions are loaded. */
  readonly report: Promise<RunnerReport>;
  readonly #onOutcome: OutcomeHandler;
  #reported: ((report: RunnerReport) => void) | undefined;
  #events: RunnerEvents | undefined;
  #claim: number | null = null;
  #exit: RunnerExit | undefined;

  constructor(onOutcome: OutcomeHandler) {
    this.#onOutcome = onOutcome;
    this.report = new Promise((resolve) => (this.#reported = resolve));
  }

  begin(claim: number, events: RunnerEvents): void {
    this.#claim = claim;
    this.#events = events;
    if (this.#exit) this.exit(this.#exit);
  }

  /** Nobody listens any more. */
  forget(): void {
    this.#claim = null;
    this.#events = undefined;
  }

  /** False when this is nothing that a runner would say. */
  hear(line: string): boolean {
    const message = heard(line);
    if (!message) return false;
    if (message.type === 'ready') {
      this.#reported?.(message);
      this.#reported = undefined;
      return true;
    }
    if (message.claim !== this.#claim) return true;
    const events = this.#events;
    if (message.type === 'outcome') {
      this.#claim = null;
      this.#onOutcome(message, (told) => events?.onMessage(told));
    } else {
      events?.onMessage(message);
    }
    return true;
  }

  output(stream: 'stdout' | 'stderr', line: string): void {
    this.#events?.onOutput(stream, line);
  }

  /** The runner is gone. A job that has its outcome is not told. */
  exit(exit: RunnerExit): void {
    this.#exit = exit;
    if (this.#claim === null) return;
    const events = this.#events;
    this.forget();
    queueMicrotask(() => events?.onExit(exit));
  }
}
