/**
 * How much a thread may say before it has been heard. Messages between threads pile up in memory,
 * where a socket would make the writer wait; so here the writer waits for the listener by itself.
 * Both sides hold the same counters.
 */
export class Credit {
  readonly shared: SharedArrayBuffer;
  readonly #counters: Int32Array;

  constructor(shared = new SharedArrayBuffer(8)) {
    this.shared = shared;
    this.#counters = new Int32Array(shared);
  }

  /** The side that speaks: counts, and blocks while too much is not yet heard. */
  spend(characters: number): void {
    const sent = Atomics.add(this.#counters, SENT, cost(characters)) + cost(characters);
    for (;;) {
      const received = Atomics.load(this.#counters, RECEIVED);
      // The difference is right even after the counters went round.
      if (((sent - received) | 0) <= KILOBYTES_MAX) return;
      Atomics.wait(this.#counters, RECEIVED, received);
    }
  }

  /** The side that listens. */
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
