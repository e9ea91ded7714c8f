import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { PACKAGE_ROOT } from '../../runtime/code.ts';
import type { Log } from '../../runtime/log.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';
import { beginDistribution, citusState, distribute } from '../citus/distribute.ts';
import type { Backend } from './backend.ts';
import { translated } from './db.ts';

/**
 * Migrations are append-only SQL files, applied in order. All of them run in one transaction that
 * first takes a lock: a kill -9 changes nothing, and of many processes that start at once, each
 * file is applied exactly once. The lock belongs to the transaction, not the session, so it also
 * works through a transaction pooler.
 *
 * A file whose first line is `--! breaking` cannot be used by older servers. A server that finds a
 * newer schema continues if nothing newer is breaking, and refuses otherwise.
 */

const FOLDER = pathToFileURL(join(PACKAGE_ROOT, 'sql/migrations/'));
const BREAKING = '--! breaking';

export class MigrationError extends StartRefusal {
  override name = 'MigrationError';

  constructor(message: string, options?: ErrorOptions) {
    super('migration', message, options);
  }
}

export interface Migration {
  number: number;
  name: string;
  sql: string;
  checksum: string;
  breaking: boolean;
}

/** A migration as the database stores it. */
export type AppliedMigration = Omit<Migration, 'sql'>;

export interface MigrateOptions {
  url: string;
  log: Log;
  shards: number;
  migrations?: readonly Migration[];
  /** What the database must be. Default: what it is; a new one is no Citus database. */
  backend?: Backend;
}

/** Migrates the database to this version's schema and returns the files that were applied. */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  return await translated(async () => await migrateOnce(options)).catch((error: unknown) => {
    throw refusalOf(error) ?? error;
  });
}

/** Errors that a repetition cannot fix: a missing right, a name that is taken. */
function refusalOf(error: unknown): MigrationError | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!(error instanceof Error) || !/^(0A|22|23|2B|42)\w{3}$/.test(code)) return null;
  const words = `the database refuses the migration: ${error.message} (SQLSTATE ${code})`;
  return new MigrationError(words, { cause: error });
}

async function migrateOnce(options: MigrateOptions): Promise<string[]> {
  const migrations = options.migrations ?? (await readMigrations());
  const client = new Client({
    connectionString: options.url,
    application_name: 'longshore migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', (error) => options.log.debug({ err: error }, 'migration connection lost'));
  await client.connect();
  try {
    await client.query('begin');
    await lock(client);
    const onCitus = await isOnCitus(client, options.backend);
    if (onCitus) await beginDistribution(client);
    const applied = await applyAll(client, migrations);
    await fixShards(client, options.shards);
    if (onCitus) await distribute(client, options.shards);
    await client.query('select longshore.ensure_partitions(7)');
    await client.query('commit');
    for (const name of applied) options.log.info({ migration: name }, 'migration applied');
    return applied;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    await client.end();
  }
}

async function lock(client: Client): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtext('longshore.migrate'))`);
}

/** A database that has the tables on one server stays so: moving its jobs is no step of a start. */
async function isOnCitus(client: Client, wanted: Backend | undefined): Promise<boolean> {
  const { installed, distributed, coordinator } = await citusState(client);
  if (wanted === 'citus' && !installed) {
    throw new MigrationError(
      'the database has no Citus: run "create extension citus" in it, on each node',
    );
  }
  if (wanted === 'postgres' && distributed) {
    throw new MigrationError('the tables of this database are distributed by Citus');
  }
  if ((wanted === 'citus' || distributed) && !coordinator) {
    throw new MigrationError('DATABASE_URL is a node of a Citus cluster: use its coordinator');
  }
  if (wanted !== 'citus' || distributed) return distributed;
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('longshore.migration') is not null as there`,
  );
  if (rows[0]?.there) {
    throw new MigrationError('the tables of this database are on one server: use a new database');
  }
  return true;
}

async function applyAll(client: Client, migrations: readonly Migration[]): Promise<string[]> {
  await requireVersion15(client);
  await client.query(`create schema if not exists longshore`);
  await client.query(`create table if not exists longshore.migration (
    number integer primary key,
    name text not null,
    checksum text not null,
    breaking boolean not null,
    applied_at timestamptz not null default clock_timestamp()
  )`);
  const { rows } = await client.query<AppliedMigration>(
    'select number, name, checksum, breaking from longshore.migration order by number',
  );
  refuseForeign(rows, migrations);
  const known = new Set(rows.map((row) => row.number));
  const applied: string[] = [];
  for (const migration of migrations) {
    if (known.has(migration.number)) continue;
    await client.query(migration.sql);
    await client.query(
      'insert into longshore.migration (number, name, checksum, breaking) values ($1, $2, $3, $4)',
      [migration.number, migration.name, migration.checksum, migration.breaking],
    );
    applied.push(migration.name);
  }
  return applied;
}

export function refuseForeign(
  rows: readonly AppliedMigration[],
  migrations: readonly Migration[],
): void {
  const byNumber = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const row of rows) {
    const mine = byNumber.get(row.number);
    if (!mine && row.breaking) {
      throw new MigrationError(
        `the database was migrated by a newer Longshore (${row.name}), which this version cannot ` +
          `use: install that version, or point DATABASE_URL at another database`,
      );
    }
    if (mine && mine.checksum !== row.checksum) {
      throw new MigrationError(
        `migration ${mine.name} differs from the one this database was made with: migrations are ` +
          `never edited after a release; restore the file, or use a new database`,
      );
    }
  }
}

async function requireVersion15(client: Client): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    `select current_setting('server_version_num')::int as number,
            current_setting('server_version') as version`,
  );
  if ((rows[0]?.number ?? 0) < 150_000) {
    throw new MigrationError(`Longshore needs PostgreSQL 15 or newer; this is ${rows[0]?.version}`);
  }
}

/** Ids contain their shard, so the number of shards is fixed once there are ids. */
async function fixShards(client: Client, shards: number): Promise<void> {
  await client.query(
    `insert into longshore.setting (name, value) values ('shards', to_jsonb($1::int))
     on conflict do nothing`,
    [shards],
  );
  const { rows } = await client.query<{ shards: number }>(
    `select value::text::int as shards from longshore.setting where name = 'shards'`,
  );
  refuseOtherShards(rows[0]?.shards ?? shards, shards);
}

export function refuseOtherShards(found: number, wanted: number): void {
  if (found === wanted) return;
  throw new MigrationError(
    `this database has ${found} shard(s), fixed at its first migration: ` +
      `set LONGSHORE_SHARDS=${found}`,
  );
}

export async function readMigrations(folder: URL = FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      return {
        number: Number(name.slice(0, 4)),
        name: name.replace(/\.sql$/, ''),
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
        breaking: sql.startsWith(BREAKING),
      };
    }),
  );
}
