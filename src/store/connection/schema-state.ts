import { type Queryable, statement } from './db.ts';
import {
  type AppliedMigration,
  MigrationError,
  readMigrations,
  refuseForeign,
  refuseOtherShards,
} from './migrate.ts';

/** The schema compared with the migrations of this version. */
export interface SchemaState {
  /** Our migrations that the database lacks, in order. */
  pending: string[];
  /** The last of our migrations that it has; null when it has none. */
  last: string | null;
  /** Migrations that we do not know. */
  newer: string[];
  /** Why `migrate` would refuse this database; null when it would not. */
  refusal: string | null;
}

const IS_THERE = statement<{ there: boolean }>(
  'is_migrated',
  `select to_regclass('longshore.migration') is not null as there`,
);

const APPLIED = statement<AppliedMigration>(
  'applied_migrations',
  'select number, name, checksum, breaking from longshore.migration order by number',
);

const SHARDS = statement<{ shards: number }>(
  'fixed_shards',
  `select value::text::int as shards from longshore.setting where name = 'shards'`,
);

/** Reads only. */
export async function schemaState(db: Queryable, shards: number): Promise<SchemaState> {
  const ours = await readMigrations();
  const names = ours.map(({ name }) => name);
  const [table] = await db.run(IS_THERE);
  if (!table?.there) return { pending: names, last: null, newer: [], refusal: null };
  const applied = await db.run(APPLIED);
  const [fixed] = await db.run(SHARDS);
  const has = new Set(applied.map(({ number }) => number));
  const known = new Set(ours.map(({ number }) => number));
  return {
    pending: ours.filter(({ number }) => !has.has(number)).map(({ name }) => name),
    last: ours.findLast(({ number }) => has.has(number))?.name ?? null,
    newer: applied.filter(({ number }) => !known.has(number)).map(({ name }) => name),
    refusal: refusalOf(() => {
      refuseForeign(applied, ours);
      refuseOtherShards(fixed?.shards ?? shards, shards);
    }),
  };
}

function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof MigrationError) return error.message;
    throw error;
  }
}
