/** Wakes the one who waits. */
export class Bell {
  #wake: (() => void) | undefined;

  ring(): void {
    this.#wake?.();
  }

  /** Resolves when it rings or the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
