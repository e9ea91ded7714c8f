/** Limits the concurrent sends of one tenant in a worker. */
export class TenantShare {
  readonly #max: number;
  readonly #underWay = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Null when the tenant is at its limit; otherwise call the returned function when the send is
   * over.
   */
  take(tenant: string): (() => void) | null {
    const before = this.#underWay.get(tenant) ?? 0;
    if (before >= this.#max) return null;
    this.#underWay.set(tenant, before + 1);
    return () => {
      const left = (this.#underWay.get(tenant) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(tenant);
      else this.#underWay.set(tenant, left);
    };
  }
}
