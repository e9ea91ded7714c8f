/**
 * Flow control for a thread. Messages between threads pile up in memory, where a socket would block
 * the writer; so here the writer waits for the reader. Both sides share the counters.
 */
export class Credit {
  readonly shared: SharedArrayBuffer;
  readonly #counters: Int32Array;

  constructor(shared = new SharedArrayBuffer(8)) {
    this.shared = shared;
    this.#counters = new Int32Array(shared);
  }

  /** The sender: counts, and blocks while too much is unread. */
  spend(characters: number): void {
    const sent = Atomics.add(this.#counters, SENT, cost(characters)) + cost(characters);
    for (;;) {
      const received = Atomics.load(this.#counters, RECEIVED);
      // Correct even after the counters wrapped around.
      if (((sent - received) | 0) <= KILOBYTES_MAX) return;
      Atomics.wait(this.#counters, RECEIVED, received);
    }
  }

  /** The receiver. */
  payBack(characters: number): void {
    Atomics.add(this.#counters, RECEIVED, cost(characters));
    Atomics.notify(this.#counters, RECEIVED);
  }
}

const SENT = 0;
const RECEIVED = 1;
const KILOBYTES_MAX = 8_192;

function cost(characters: number): number {
  return Math.ceil(characters / 1_024);
}
