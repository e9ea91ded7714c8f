/** A runner without a job for this long is asked whether it is idle. */
const ASK_AFTER_MS = 1_000;
/** The time to answer, also on a busy machine. */
const ANSWER_MS = 5_000;
/** The pause after a good answer: the process may only have waited for the first question. */
const ASK_AGAIN_MS = 10_000;
/** A process without a job that uses more than this share of a core is busy. */
const CPU_PART_MAX = 0.5;

export interface IdleCheckOptions {
  ask(): void;
  /** The CPU time of the process so far. */
  cpuMs(): number | null;
  end(): void;
}

/**
 * Ends a warm process that goes on with a job after its outcome: code of a job can forge its
 * outcome on the connection, and would then have no timeout. An idle process is asked now and then;
 * one that is busy, does not answer, or computes all the time is ended.
 *
 * A busy worker gives the next job long before that, so a job costs only a timer reset.
 */
export class IdleCheck {
  readonly #options: IdleCheckOptions;
  readonly #timer: NodeJS.Timeout;
  #state: 'off' | 'waiting' | 'asked' | 'answered' = 'off';
  /** The next verdict, or the next question. */
  #next: NodeJS.Timeout | undefined;
  #cpuMs: number | null = null;

  constructor(options: IdleCheckOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => this.#ask(), ASK_AFTER_MS).unref();
  }

  /** The process has no job from now on. */
  begin(): void {
    this.#state = 'waiting';
    this.#timer.refresh();
  }

  /** It has a job again, or is gone. */
  stop(): void {
    this.#state = 'off';
    clearTimeout(this.#next);
  }

  answered(busy: boolean): void {
    if (this.#state === 'off') return;
    if (busy) return this.#options.end();
    if (this.#state === 'asked') this.#state = 'answered';
  }

  #ask(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'asked';
    this.#cpuMs = this.#options.cpuMs();
    this.#options.ask();
    this.#next = setTimeout(() => this.#judge(), ANSWER_MS).unref();
  }

  #judge(): void {
    const now = this.#options.cpuMs();
    const used = now === null || this.#cpuMs === null ? 0 : now - this.#cpuMs;
    const silent = this.#state === 'asked';
    if (silent || used > ANSWER_MS * CPU_PART_MAX) return this.#options.end();
    this.#state = 'waiting';
    this.#next = setTimeout(() => this.#ask(), ASK_AGAIN_MS).unref();
  }
}
