/** A pool of idle runners that can give up one. */
export interface Lender {
  /** Ends an idle runner; false when it has none. */
  endIdle(): boolean;
}

/**
 * The number of runners of a worker. Each kind (an isolation with a memory limit) has a pool, and
 * together they may have no more than this: when one kind needs a runner, an idle one of another
 * kind is ended.
 */
export class Capacity {
  readonly #size: number;
  readonly #lenders = new Set<Lender>();
  #taken = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get free(): boolean {
    return this.#taken < this.#size;
  }

  join(lender: Lender): void {
    this.#lenders.add(lender);
  }

  part(lender: Lender): void {
    this.#lenders.delete(lender);
  }

  take(): void {
    this.#taken += 1;
  }

  leave(): void {
    this.#taken -= 1;
  }

  /** A job waits, so its runner starts in any case; an idle one of another kind ends for it. */
  makeRoom(asking: Lender): void {
    if (this.free) return;
    for (const lender of this.#lenders) {
      if (lender !== asking && lender.endIdle()) return;
    }
    // Its own idle runners belong to other tenants.
    asking.endIdle();
  }
}
