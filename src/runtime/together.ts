interface Waiting<Item, Result> {
  item: Item;
  answer: (result: Result) => void;
  fail: (error: unknown) => void;
}

/**
 * Does what several callers ask for at about the same time in one call, for example in one statement.
 * One call is under way at a time; what is asked for meanwhile goes with the next one. So a caller that
 * is alone waits for nothing, and the more there are, the fewer calls each of them costs.
 */
export class Together<Item, Result> {
  readonly #work: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #most: number;
  #waiting: Waiting<Item, Result>[] = [];
  #busy = false;

  /** `work` answers in the order of its items; if it throws, all of them have failed. */
  constructor(most: number, work: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#most = most;
    this.#work = work;
  }

  async ask(item: Item): Promise<Result> {
    return await new Promise<Result>((answer, fail) => {
      this.#waiting.push({ item, answer, fail });
      if (this.#busy) return;
      this.#busy = true;
      // Those who ask in the same turn come along.
      setImmediate(() => void this.#next());
    });
  }

  async #next(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#most);
    try {
      const results = await this.#work(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('not every item has a result');
      for (const [index, { answer }] of batch.entries()) answer(results[index] as Result);
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
    this.#busy = this.#waiting.length > 0;
    if (this.#busy) setImmediate(() => void this.#next());
  }
}

/** A `Together` for each key. Those of one key do not wait for a call of another. */
export class TogetherPerKey<Key, Item, Result> {
  readonly #most: number;
  readonly #work: (key: Key, items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #ofKey = new Map<Key, Together<Item, Result>>();

  constructor(
    most: number,
    work: (key: Key, items: readonly Item[]) => Promise<readonly Result[]>,
  ) {
    this.#most = most;
    this.#work = work;
  }

  async ask(key: Key, item: Item): Promise<Result> {
    let together = this.#ofKey.get(key);
    if (!together) {
      together = new Together(this.#most, async (items) => await this.#work(key, items));
      this.#ofKey.set(key, together);
    }
    return await together.ask(item);
  }
}
