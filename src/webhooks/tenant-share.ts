/** How many of a worker's sends may be under way for one tenant, so that others find room. */
export class TenantShare {
  readonly #max: number;
  readonly #underWay = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Null when the tenant has as many as it may; call what it answers when the send is over. */
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
