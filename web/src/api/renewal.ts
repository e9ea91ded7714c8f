import type { QueryClient } from '@tanstack/react-query';
import type { Topic } from '../../../src/core/views/change-feed.ts';
import { renewedBy, restMsOf } from '../words/news.ts';

/**
 * Asks again for what has changed: at once, and then no sooner than its rest is over. What changes
 * while it is being asked for is asked for once more, since the answer may be from before.
 */
export class Renewal {
  readonly #client: QueryClient;
  readonly #due = new Set<string>();
  readonly #busy = new Set<string>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  tell(topics: readonly Topic[]): void {
    for (const name of renewedBy(topics)) {
      this.#due.add(name);
      if (!this.#busy.has(name)) void this.#renew(name);
    }
  }

  async #renew(name: string): Promise<void> {
    this.#busy.add(name);
    while (this.#due.delete(name)) {
      await this.#client.invalidateQueries({ queryKey: [name] });
      await new Promise((resolve) => setTimeout(resolve, restMsOf(name)));
    }
    this.#busy.delete(name);
  }
}
