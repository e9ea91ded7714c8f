/** Aborts a transfer that makes no progress for some time. */
export class IdleLimit {
  readonly #controller = new AbortController();
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
    this.progress();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  progress(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.abort(new Error(`no progress for ${this.#idleMs} ms`));
    }, this.#idleMs);
  }

  abort(reason: unknown): void {
    this.end();
    this.#controller.abort(reason);
  }

  /** Passes a download on. The time that the reader takes does not count. */
  async *receiving(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.end();
      yield chunk;
      this.progress();
    }
  }

  /** Passes an upload on. The time that the source takes does not count. */
  async *sending(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    this.end();
    for await (const chunk of source) {
      this.progress();
      yield chunk;
      this.end();
    }
    // For the answer.
    this.progress();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
