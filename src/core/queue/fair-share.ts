/**
 * Whose turn it is among those who are equally urgent. Tenants share the jobs that are claimed by their
 * weights, and the queues of a tenant take shares.
 *
 * Each tenant has a turn, a number that grows with every job it gets: by one, or less the heavier it
 * is. The lowest goes next. The turn at which the last claim found something is *now*, and nobody is
 * behind it: who had nothing to do has saved up nothing, and who comes anew is among the next. So a
 * tenant that got nothing lately heads one of the next T claims, T being the tenants that have work,
 * however long the levels of the others are. Only those ahead of now are remembered.
 */
export interface Taken {
  tenant: string;
  queue: number;
  weight: number;
}

export class FairShare {
  #now = 0;
  readonly #tenants = new Map<string, number>();
  readonly #queues = new Map<number, number>();
  #claims = 0;

  ofTenant(tenant: string): number {
    return Math.max(this.#now, this.#tenants.get(tenant) ?? 0);
  }

  /** The queue that was served the longest ago has the lowest. */
  ofQueue(queue: number): number {
    return this.#queues.get(queue) ?? 0;
  }

  /** What a claim brought. */
  took(jobs: readonly Taken[]): void {
    if (jobs.length === 0) return;
    this.#claims += 1;
    this.#now = Math.min(...jobs.map(({ tenant }) => this.ofTenant(tenant)));
    for (const { tenant, queue, weight } of jobs) {
      this.#tenants.set(tenant, this.ofTenant(tenant) + 1 / weight);
      this.#queues.set(queue, this.#claims);
    }
    for (const [tenant, turn] of this.#tenants) {
      if (turn <= this.#now) this.#tenants.delete(tenant);
    }
  }
}
