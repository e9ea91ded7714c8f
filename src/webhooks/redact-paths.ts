import type { Clock } from '../runtime/clock.ts';
import type { Queryable } from '../store/connection/db.ts';
import { readRedactPaths } from '../store/read/redact-paths.ts';

/** As old as in the API. */
const FRESH_MS = 500;

type Paths = Awaited<ReturnType<typeof readRedactPaths>>;

/** The paths that definitions hide; many deliveries share one query. */
export class RedactPaths {
  readonly #db: Queryable;
  readonly #clock: Clock;
  #known: { askedMs: number; paths: Promise<Paths> } | undefined;

  constructor(db: Queryable, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async get(): Promise<Paths> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#known && nowMs - this.#known.askedMs < FRESH_MS) return await this.#known.paths;
    const known = { askedMs: nowMs, paths: readRedactPaths(this.#db) };
    this.#known = known;
    try {
      return await known.paths;
    } catch (error) {
      if (this.#known === known) this.#known = undefined;
      throw error;
    }
  }
}
