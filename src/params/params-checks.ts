import type { Clock } from '../runtime/clock.ts';
import { compileSchema, type ParamsJudge, type ParamsViolation } from './compile-schema.ts';

const SCHEMAS_MAX = 500;
const REST_MS = 60_000;

/** A published schema, identified also by its time: the same version may get a new schema. */
export interface PublishedSchema {
  key: string;
  version: number;
  publishedAt: string;
  paramsSchema: unknown;
}

interface Known {
  /** Undefined: not compiled yet. */
  judge?: ParamsJudge | null;
  /** It timed out; no new try until then. */
  restsUntilMs: number;
}

/**
 * Validates params by the schemas of definitions. Each schema is compiled once, in a bounded cache.
 * Params that cannot be validated here pass: the runner validates them again.
 */
export class ParamsChecks {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  violations(published: PublishedSchema, paramsJson: string): ParamsViolation[] {
    if (published.paramsSchema === null || published.paramsSchema === undefined) return [];
    const known = this.#find(published);
    if (this.#clock.monotonicMs() < known.restsUntilMs) return [];
    try {
      if (known.judge === undefined) known.judge = compileSchema(published.paramsSchema);
      return known.judge?.(paramsJson) ?? [];
    } catch {
      known.restsUntilMs = this.#clock.monotonicMs() + REST_MS;
      return [];
    }
  }

  #find({ key, version, publishedAt }: PublishedSchema): Known {
    const name = `${key}@${version} ${publishedAt}`;
    const found = this.#known.get(name);
    if (found) return found;
    const known: Known = { restsUntilMs: 0 };
    if (this.#known.size >= SCHEMAS_MAX) {
      for (const [oldest] of this.#known) {
        this.#known.delete(oldest);
        break;
      }
    }
    this.#known.set(name, known);
    return known;
  }
}
