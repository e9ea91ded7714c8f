import { Bell } from './bell.ts';

/**
 * Messages that have arrived and wait to be taken. The broker sends no more than its prefetch before
 * a message is settled, so that bounds it.
 */
export class Arrivals<Item> {
  #items: Item[] = [];
  #over = false;
  readonly #bell = new Bell();

  get isOver(): boolean {
    return this.#over;
  }

  add(item: Item): void {
    if (this.#over) return;
    this.#items.push(item);
    this.#bell.ring();
  }

  /** Drops what has not been taken: the broker sends it again. */
  end(): void {
    this.#over = true;
    this.#items = [];
    this.#bell.ring();
  }

  async take(max: number, signal: AbortSignal): Promise<Item[]> {
    while (this.#items.length === 0 && !this.#over && !signal.aborted) {
      await this.#bell.wait(signal);
    }
    return signal.aborted ? [] : this.#items.splice(0, max);
  }
}
