/** A waiting call waits no longer than this for the answers to others. */
const WAIT_MAX_MS = 100;
const REQUESTS_MAX = 2;

/** What one request can carry. */
export interface Room<Entry> {
  /** Whether the entry still fits; then it is in. */
  takes(entry: Entry): boolean;
}

/**
 * Gathers entries that share requests. An entry is sent at once, with those of the same moment, while
 * few requests are in progress. Later ones wait for an answer and are then sent together: the busier
 * the caller, the fewer requests per entry. A lone caller never waits.
 */
export class Gathering<Entry> {
  readonly #roomOf: () => Room<Entry>;
  readonly #send: (entries: readonly Entry[]) => Promise<void>;
  #waiting: Entry[] = [];
  #requests = 0;
  #turns = 0;

  /** `send` must not reject. */
  constructor(roomOf: () => Room<Entry>, send: (entries: readonly Entry[]) => Promise<void>) {
    this.#roomOf = roomOf;
    this.#send = send;
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#requests === 0;
  }

  add(entry: Entry): void {
    this.#waiting.push(entry);
    if (this.#waiting.length === 1) queueMicrotask(() => this.#flush());
  }

  /** No effect on an entry that was sent. */
  remove(entry: Entry): void {
    this.#waiting = this.#waiting.filter((one) => one !== entry);
  }

  #flush(): void {
    if (this.#turns > 0) return;
    while (this.#waiting.length > 0 && this.#requests < REQUESTS_MAX) void this.#request();
  }

  async #request(): Promise<void> {
    const entries = this.#nextEntries();
    this.#requests += 1;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      this.#requests -= 1;
      if (entries.length === 1) return this.#flush();
      // The callers of a shared request often call again when they get their answers.
      this.#turns += 1;
      afterCallers(() => {
        this.#turns -= 1;
        this.#flush();
      });
    };
    const timer = setTimeout(end, WAIT_MAX_MS);
    await this.#send(entries);
    clearTimeout(timer);
    end();
  }

  /** The first one always fits. */
  #nextEntries(): Entry[] {
    const room = this.#roomOf();
    const over = this.#waiting.findIndex((entry, index) => !room.takes(entry) && index > 0);
    return this.#waiting.splice(0, over === -1 ? this.#waiting.length : over);
  }
}

/** After everything that follows from the current event. */
function afterCallers(work: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (work: () => void) => unknown };
  if (setImmediate) setImmediate(work);
  else setTimeout(work, 0);
}
