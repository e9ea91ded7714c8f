import { mayServe } from '../core/access/key-patterns.ts';
import type { WorkerKey } from '../http/deps.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Db } from '../store/connection/db.ts';
import { type ServedDeployment, servedDeployments } from '../store/deployments/served.ts';

/** Many workers ask for the same list. */
const FRESH_MS = 1_000;
const TENANTS_MAX = 1_000;

/** The deployments that remote workers may serve: those of their tenant, and the shared ones. */
export class ServedCode {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #lists = new Map<string, { list: Promise<ServedDeployment[]>; readMs: number }>();

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Releases or deployments changed. */
  forget(): void {
    this.#lists.clear();
  }

  /** An archive is readable as a whole, so the key must be allowed to serve all definitions in it. */
  async of({ tenant, patterns }: WorkerKey): Promise<ServedDeployment[]> {
    const all = await this.#listOf(tenant);
    return all.filter(({ manifest }) => {
      const { definitions } = manifest as { definitions?: readonly { key: string }[] };
      return definitions?.every(({ key }) => mayServe(patterns, key)) === true;
    });
  }

  async #listOf(tenant: string): Promise<ServedDeployment[]> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#lists.get(tenant);
    if (known && nowMs - known.readMs < FRESH_MS) return await known.list;
    if (this.#lists.size >= TENANTS_MAX) this.#lists.clear();
    const list = servedDeployments(this.#db, tenant);
    this.#lists.set(tenant, { list, readMs: nowMs });
    list.catch(() => this.#lists.delete(tenant));
    return await list;
  }
}
