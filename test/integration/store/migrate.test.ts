import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeJobId } from '../../../src/core/job/job-id.ts';
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

  it('knows a breaking file by its first line', async () => {
    expect(ours.map(({ number }) => number)).toEqual(ours.map((_, index) => index + 1));
    for (const { sql, breaking } of ours) {
      expect(breaking).toBe(sql.split('\n')[0] === '--! breaking');
    }
  });

  it('gives queues that were there before hooks a queue for them, and old attempts their end', async () => {
    await run(ours.filter(({ number }) => number < 3));
    const id = makeJobId({ timeMs: Date.now(), sequence: 0, random: [0, 0], shard: 0 });
    await sql(`insert into longshore.queue (shard, queue, tenant, key, version)
      values (0, 1, 't', 'a', 1), (0, 4, 't', 'b', 2), (1, 1, 't', 'c', 1);
      insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
        interruptions, finished_at, error_code, error)
      values (0, '${id}', 1, 'failed', 0, 1, 1, 5, 0, now(), 'TIMEOUT', '{}');
      insert into longshore.attempt (shard, job_id, claim_no, number, worker, started_at,
        finished_at, error_code)
      select 0, '${id}', n, 1, gen_random_uuid(), now(), now(), code
      from unnest('{LEASE_EXPIRED,INTERRUPTED,NULL,TIMEOUT,TIMEOUT}'::text[])
        with ordinality as a(code, n)`);
    await run();
    expect(
      await sql(`select shard, queue, tenant, key, version from longshore.queue
        where left(key, 1) = '$' order by shard, queue`),
    ).toEqual([
      { shard: 0, queue: 5, tenant: 't', key: '$hook:a', version: 1 },
      { shard: 0, queue: 6, tenant: 't', key: '$hook:b', version: 2 },
      { shard: 1, queue: 2, tenant: 't', key: '$hook:c', version: 1 },
    ]);
    const ends = await sql<{ next: string }>(
      'select next from longshore.attempt order by claim_no',
    );
    expect(ends.map(({ next }) => next)).toEqual([
      'queued',
      'queued',
      'scheduled',
      'retrying',
      'failed',
    ]);
  });
});
