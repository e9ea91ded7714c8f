import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { isSystemKey } from '../../core/definition/hooks.ts';
import type { PublishedDefaults } from '../../core/job/new-job.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Queryable, statement } from '../connection/db.ts';

export interface PublishedDefinition extends DefinitionInfo {
  publishedAt: string;
}

const PUBLISH = statement<{ key: string }>(
  'publish_definitions',
  `insert into longshore.definition (key, version, info)
   select d.key, d.version, d.info
   from jsonb_to_recordset($1::jsonb) as d(key text, version int, info jsonb)
   order by d.key, d.version
   on conflict (key, version) do update
     set info = excluded.info, published_at = clock_timestamp()
     where definition.info is distinct from excluded.info
   returning key`,
);

const LIST = statement<{ info: DefinitionInfo; published_at: Date }>(
  'list_definitions',
  'select info, published_at from longshore.definition order by key, version',
);

/** What a worker has loaded becomes known to every API. The newest publisher of a version wins. */
export async function publishDefinitions(
  db: Queryable,
  definitions: readonly DefinitionInfo[],
): Promise<void> {
  const rows = definitions.map((info) => ({ key: info.key, version: info.version, info }));
  await db.run(PUBLISH, [JSON.stringify(rows)]);
}

export async function listDefinitions(db: Queryable): Promise<PublishedDefinition[]> {
  const rows = await db.run(LIST);
  return rows.map((row) => ({ ...row.info, publishedAt: row.published_at.toISOString() }));
}

const FRESH_MS = 1_000;

/** The published definitions as enqueueing needs them, read again when older than a second. */
export class Catalog {
  readonly #db: Queryable;
  readonly #clock: Clock;
  #byKey = new Map<string, Map<number, PublishedDefaults>>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(db: Queryable, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** The asked version, or the highest one; null when it was never published. */
  async find(key: string, version: number | null): Promise<PublishedDefaults | null> {
    if (this.#clock.monotonicMs() - this.#readAtMs > FRESH_MS) await this.#refresh();
    const versions = this.#byKey.get(key);
    if (!versions) return null;
    return versions.get(version ?? Math.max(...versions.keys())) ?? null;
  }

  /** What callers may ask for, as it was found last: keys with their versions, the lowest first. */
  all(): Map<string, number[]> {
    const own = [...this.#byKey].filter(([key]) => !isSystemKey(key));
    return new Map(own.map(([key, versions]) => [key, [...versions.keys()]]));
  }

  async #refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #read(): Promise<void> {
    const byKey = new Map<string, Map<number, PublishedDefaults>>();
    for (const published of await listDefinitions(this.#db)) {
      const versions = byKey.get(published.key) ?? new Map<number, PublishedDefaults>();
      byKey.set(published.key, versions.set(published.version, published));
    }
    this.#byKey = byKey;
    this.#readAtMs = this.#clock.monotonicMs();
  }
}
