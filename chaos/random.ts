/**
 * Chance that can be repeated: everything a run decides by chance comes from its seed. Each part of
 * a run has a stream of its own, so that one which asks more often does not change the others.
 */
export class Random {
  readonly #seed: string;
  #state: [number, number, number, number];

  constructor(seed: string) {
    this.#seed = seed;
    this.#state = [hash(seed, 1), hash(seed, 2), hash(seed, 3), 1];
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** A stream of its own, always the same for this name. */
  stream(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  /** In [0, 1). This is sfc32, small and well tested. */
  next(): number {
    let [a, b, c] = this.#state;
    const counter = this.#state[3];
    const sum = (((a + b) | 0) + counter) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    this.#state = [a, b, c, (counter + 1) | 0];
    return (sum >>> 0) / 2 ** 32;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      rest -= weight;
      if (rest < 0) return name;
    }
    throw new Error('there is nothing to choose from');
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, place: this.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ item }) => item);
  }
}

/** FNV-1a, with a salt. */
function hash(text: string, salt: number): number {
  let value = 0x811c9dc5 ^ salt;
  for (const letter of text) value = Math.imul(value ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return value | 0;
}
