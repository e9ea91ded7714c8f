/** Calls back when a job gives no sign of life for so long. */
export class Silence {
  #timer: NodeJS.Timeout | undefined;
  readonly #onSilent: () => void;
  #check: NodeJS.Immediate | undefined;

  constructor(limitMs: number, onSilent: () => void) {
    this.#onSilent = onSilent;
    this.#timer = setTimeout(() => this.#due(), limitMs);
  }

  sign(): void {
    clearImmediate(this.#check);
    this.#timer?.refresh();
  }

  stop(): void {
    clearImmediate(this.#check);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** A worker that was held up runs its timers before it reads what the job has sent meanwhile. */
  #due(): void {
    this.#check = setImmediate(() => this.#onSilent());
  }
}
