import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../src/runtime/log.ts';
import {
  migrate,
  type Migration,
  MigrationError,
  readMigrations,
} from '../../../src/store/connection/migrate.ts';
import { emptyDatabase, onCluster } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

const ours = await readMigrations();

/** A migration of a later version, numbered after all of ours. */
function later(sql: string, changes: Partial<Migration> = {}): Migration {
  const number = (ours.at(-1)?.number ?? 0) + 1;
  return { number, name: `${number}_later`, sql, checksum: sql, breaking: false, ...changes };
}

let url: string;

beforeEach(async () => {
  const database = await emptyDatabase();
  onTestFinished(database.drop);
  url = database.url;
});

const run = async (migrations: readonly Migration[] = ours, shards = 1) =>
  await migrate({ url, log: silentLog, shards, migrations });

async function sql<Row extends object>(text: string): Promise<Row[]> {
  let found: Row[] = [];
  await onCluster(url, async (client) => {
    found = (await client.query<Row>(text)).rows;
  });
  return found;
}

const schemas = async () => await sql(`select from pg_namespace where nspname = 'longshore'`);

describe('migrate', () => {
  it('applies each file once when ten processes start together on an empty database', async () => {
    const all = [...ours, later('create table longshore.later (id int primary key)')];
    const applied = await Promise.all(Array.from({ length: 10 }, async () => await run(all)));
    expect(applied.flat()).toEqual(all.map((migration) => migration.name));
    expect(await sql('select number from longshore.migration')).toHaveLength(all.length);
    expect(await run(all)).toEqual([]);
  });

  it('leaves nothing behind when killed in the middle, and the next run completes', async () => {
    const slow = later(`create table longshore.half (id int); select pg_sleep(2) /* half-way */`);
    const module = new URL('../../../src/store/connection/migrate.ts', import.meta.url).href;
    const log = new URL('../../../src/runtime/log.ts', import.meta.url).href;
    const script = `
      const { migrate, readMigrations } = await import(${JSON.stringify(module)});
      const { silentLog } = await import(${JSON.stringify(log)});
      const migrations = [...(await readMigrations()), JSON.parse(process.argv[2])];
      await migrate({ url: process.argv[1], log: silentLog, shards: 1, migrations });`;
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', script, url, JSON.stringify(slow)],
      { stdio: 'inherit' },
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    const asleep = `select from pg_stat_activity where wait_event = 'PgSleep'
      and datname = current_database() and application_name = 'longshore migrate'`;
    await until('the migration sleeps', async () => (await sql(asleep)).length > 0);
    child.kill('SIGKILL');
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    // Its session still holds the lock in the middle of a statement. The next run waits for it.
    expect(await run()).toEqual(ours.map((migration) => migration.name));
    expect(await sql(`select to_regclass('longshore.half') as half`)).toEqual([{ half: null }]);
    expect(await sql('select number from longshore.migration')).toHaveLength(ours.length);
  });

  it('leaves nothing behind when one file fails', async () => {
    const broken = later('create table longshore.half (id int); select 1 / 0');
    await expect(run([...ours, broken])).rejects.toThrow('division by zero');
    expect(await schemas()).toEqual([]);
    expect(await run()).toEqual(ours.map((migration) => migration.name));
  });

  it('refuses a database that a newer version has migrated in a breaking way', async () => {
    await run([...ours, later('select 1', { name: '0999_far_ahead', breaking: true })]);
    const refusal = run();
    await expect(refusal).rejects.toThrow(MigrationError);
    await expect(refusal).rejects.toThrow(
      'the database was migrated by a newer Longshore (0999_far_ahead), which this version ' +
        'cannot use: install that version, or point DATABASE_URL at another database',
    );
  });

  it('goes on with a newer database when nothing newer is breaking', async () => {
    await run([...ours, later('create table longshore.later (id int primary key)')]);
    expect(await run()).toEqual([]);
    expect(await sql('select number from longshore.migration')).toHaveLength(ours.length + 1);
  });

  it('refuses an applied migration that was edited afterwards', async () => {
    await run([...ours, later('select 1')]);
    await expect(run([...ours, later('select 2')])).rejects.toThrow(/differs from the one this/);
  });

  it('refuses another number of shards than at first, and says which to set', async () => {
    await run(ours, 4);
    await expect(run(ours, 1)).rejects.toThrow(/has 4 shard.*set LONGSHORE_SHARDS=4/);
    expect(await run(ours, 4)).toEqual([]);
  });

  it('applies only what the database lacks, in the order of the numbers', async () => {
    const first = later('create table longshore.later (id int primary key)');
    const second = { ...later('alter table longshore.later add n int'), name: '0998_more' };
    second.number += 1;
    expect(await run()).toEqual(ours.map((migration) => migration.name));
    expect(await run([...ours, first])).toEqual([first.name]);
    expect(await run([...ours, first, second])).toEqual([second.name]);
    expect(await sql('select id, n from longshore.later')).toEqual([]);
  });
});

describe('readMigrations', () => {
  it('numbers our files without a gap, and none of them is marked as breaking', () => {
    expect(ours.map(({ number }) => number)).toEqual(ours.map((_, index) => index + 1));
    expect(ours.filter(({ breaking }) => breaking)).toEqual([]);
  });

  it('knows a breaking file by its first line, and ignores other files', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'migrations-'));
    onTestFinished(async () => await rm(folder, { recursive: true }));
    const files = {
      '0002_breaking.sql': '--! breaking\nselect 2;\n',
      '0001_first.sql': 'select 1;\n--! breaking\n',
      'notes.md': 'select 3;',
    };
    for (const [name, text] of Object.entries(files))
      await writeFile(path.join(folder, name), text);
    const found = await readMigrations(pathToFileURL(`${folder}/`));
    expect(found.map(({ number, name, breaking }) => ({ number, name, breaking }))).toEqual([
      { number: 1, name: '0001_first', breaking: false },
      { number: 2, name: '0002_breaking', breaking: true },
    ]);
  });
});
