import { unavailable } from '../problem.ts';

/** Maximum number of concurrent text searches, per tenant and in total; others wait. */
const OF_TENANT_MAX = 2;
const OF_ALL_MAX = 4;
const WAITING_OF_TENANT_MAX = 50;
const WAITING_MAX = 1_000;

/**
 * A text search (`q`) reads many jobs, and many at once would overload the database. So few run at
 * a time; the next one is of the tenant with the fewest running.
 */
export class SearchSlots {
  readonly #running = new Map<string, number>();
  readonly #waiting: { tenant: string; begin: () => void }[] = [];
  #all = 0;

  async run<T>(tenant: string, search: () => Promise<T>): Promise<T> {
    const own = this.#waiting.filter((one) => one.tenant === tenant).length;
    if (own >= WAITING_OF_TENANT_MAX || this.#waiting.length >= WAITING_MAX) {
      throw unavailable('too many searches are waiting; try again later');
    }
    await new Promise<void>((begin) => {
      this.#waiting.push({ tenant, begin });
      this.#next();
    });
    try {
      return await search();
    } finally {
      this.#count(tenant, -1);
      this.#next();
    }
  }

  #next(): void {
    if (this.#all >= OF_ALL_MAX) return;
    const free = this.#waiting.filter(({ tenant }) => this.#of(tenant) < OF_TENANT_MAX);
    const [next] = free.sort((one, other) => this.#of(one.tenant) - this.#of(other.tenant));
    if (!next) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#count(next.tenant, 1);
    next.begin();
  }

  #of(tenant: string): number {
    return this.#running.get(tenant) ?? 0;
  }

  #count(tenant: string, by: 1 | -1): void {
    this.#all += by;
    const left = this.#of(tenant) + by;
    if (left === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, left);
  }
}
