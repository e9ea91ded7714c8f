/**
 * Start-time fair queueing among levels of equal priority. Each tenant has a virtual time that
 * advances by 1/weight per job; the lowest is served next. An idle tenant is lifted to the current
 * virtual time, so it cannot save up credit. A tenant that was not served lately is first in one of
 * the next T claims, where T is the number of tenants with work, however long the levels of the
 * others are. Only tenants ahead of the current virtual time are kept in memory. The queues of a
 * tenant share in the same way.
 */
export interface Taken {
  tenant: string;
  queue: number;
  weight: number;
  /** How many jobs; 1 by default. */
  jobs?: number;
}

export class FairShare {
  #now = 0;
  readonly #tenants = new Map<string, number>();
  readonly #queues = new Map<number, number>();
  #claims = 0;

  ofTenant(tenant: string): number {
    return Math.max(this.#now, this.#tenants.get(tenant) ?? 0);
  }

  /** The least recently served queue has the lowest number. */
  ofQueue(queue: number): number {
    return this.#queues.get(queue) ?? 0;
  }

  /** Records the jobs of a claim. */
  took(taken: readonly Taken[]): void {
    if (taken.length === 0) return;
    this.#claims += 1;
    this.#now = Math.min(...taken.map(({ tenant }) => this.ofTenant(tenant)));
    for (const { tenant, queue, weight, jobs = 1 } of taken) {
      this.#tenants.set(tenant, this.ofTenant(tenant) + jobs / weight);
      this.#queues.set(queue, this.#claims);
    }
    for (const [tenant, turn] of this.#tenants) {
      if (turn <= this.#now) this.#tenants.delete(tenant);
    }
  }
}
