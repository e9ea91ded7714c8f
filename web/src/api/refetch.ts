import type { QueryClient } from '@tanstack/react-query';
import type { Topic } from '../../../src/core/views/change-feed.ts';
import { refetchedBy, minIntervalMs } from '../words/change-feed.ts';

/**
 * Refetches the queries of changed topics: at once, then at most once per interval. A change that
 * arrives during a refetch causes another one, since the response may predate it.
 */
export class Refetch {
  readonly #client: QueryClient;
  readonly #due = new Set<string>();
  readonly #busy = new Set<string>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  changed(topics: readonly Topic[]): void {
    for (const name of refetchedBy(topics)) {
      this.#due.add(name);
      if (!this.#busy.has(name)) void this.#refetch(name);
    }
  }

  async #refetch(name: string): Promise<void> {
    this.#busy.add(name);
    while (this.#due.delete(name)) {
      await this.#client.invalidateQueries({ queryKey: [name] });
      await new Promise((resolve) => setTimeout(resolve, minIntervalMs(name)));
    }
    this.#busy.delete(name);
  }
}
