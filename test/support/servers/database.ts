import { randomBytes } from 'node:crypto';
import { Client, DatabaseError, Pool, type QueryResultRow } from 'pg';
import { afterAll, beforeAll, beforeEach, inject, onTestFailed, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { Waker } from '../../../src/store/connection/wake.ts';
import { migrate } from '../../../src/store/connection/migrate.ts';
import { installGuard } from '../checks/guard.ts';
import { guardShard, joinNodes } from './citus/cluster.ts';
import { until } from '../until.ts';

export type PostgresVersion = 15 | 18;

export interface TestDatabase {
  url: string;
  db: Db;
  enqueuer: Enqueuer;
  waker: Waker;
  /** Plain SQL to arrange and inspect; runs outside the product's code. */
  sql: <Row extends QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;
  close: () => Promise<void>;
}

/** The versions that tests can run on here: the newest always, the oldest where it is installed. */
export function postgresVersions(): PostgresVersion[] {
  if (isOnCitus()) return [15];
  return inject('cluster15Url') === null ? [18] : [18, 15];
}

/** Whether this run tests on Citus (the project `citus` of vitest.config.ts) instead. */
export function isOnCitus(): boolean {
  return inject('citusUrls') !== null;
}

/** What many tests would have to do to their database, done once to a template of it. */
export interface Preparation {
  /** Part of a database's name: another one for everything that is prepared differently. */
  name: string;
  prepare(client: Client): Promise<void>;
}

interface TestDatabaseOptions {
  shards?: number;
  postgres?: PostgresVersion;
  encryptionKeys?: string;
  prepared?: Preparation;
}

/** One database for all tests of this file or `describe`. It can be used from `beforeAll` on. */
export function sharedDatabase(options?: TestDatabaseOptions): TestDatabase {
  const database = {} as TestDatabase;
  beforeAll(async () => void Object.assign(database, await testDatabase(options)));
  afterAll(async () => await database.close());
  return database;
}

/** A new database for each test of this file or `describe`. It can be used from `beforeEach` on. */
export function databasePerTest(options?: TestDatabaseOptions): TestDatabase {
  const database = {} as TestDatabase;
  beforeEach(async () => {
    const { close } = Object.assign(database, await testDatabase(options));
    onTestFinished(close);
  });
  return database;
}

/** A database of its own, cloned from a migrated template that carries the guard triggers. */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { shards = 1, postgres = 18, encryptionKeys = null, prepared } = options;
  const clusterUrl = clusterOf(postgres);
  const template = async (admin: Client) => {
    const migrated = await ensureTemplate(admin, clusterUrl, shards);
    return prepared ? await ensurePrepared(admin, clusterUrl, migrated, prepared) : migrated;
  };
  const { url, drop } = await createDatabase(clusterUrl, template);
  const db = Db.open({ clock: systemClock, url, log: silentLog, max: 20, shards, encryptionKeys });
  const waker = new Waker(url, silentLog, systemClock, 'none', shards);
  const enqueuer = new Enqueuer(db, waker, systemClock);
  const plain = new Pool({ connectionString: url, max: 4 });
  plain.on('error', () => undefined);
  return {
    url,
    db,
    enqueuer,
    waker,
    sql: async (text, values = []) => (await plain.query(text, values)).rows as never,
    close: async () => {
      await waker.close();
      await db.close();
      await plain.end();
      await drop();
    },
  };
}

export interface EmptyDatabase {
  url: string;
  drop: () => Promise<void>;
}

/** A database without migrations. */
export async function emptyDatabase(postgres: PostgresVersion = 18): Promise<EmptyDatabase> {
  return await createDatabase(clusterOf(postgres), async () => 'template1');
}

/** Prints where to inspect the data of a failed test, as long as the cluster runs. */
export function tellWhereOnFailure(database: TestDatabase): void {
  onTestFailed(() => {
    process.stderr.write(`database of the failed test: ${database.url}\n`);
  });
}

export function withDatabase(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.href;
}

function clusterOf(postgres: PostgresVersion): string {
  const [coordinator] = inject('citusUrls') ?? [];
  if (coordinator !== undefined) return coordinator;
  const url = inject(postgres === 15 ? 'cluster15Url' : 'clusterUrl');
  if (url === null) throw new Error('PostgreSQL 15 is not installed here');
  return url;
}

async function createDatabase(
  clusterUrl: string,
  templateOf: (admin: Client) => Promise<string>,
): Promise<EmptyDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  let template = '';
  await onCluster(clusterUrl, async (admin) => void (template = await templateOf(admin)));
  await onServers(clusterUrl, async (admin) => {
    // Copying files is quicker than writing the copy to the log first, where no disk is waited for.
    await admin.query(`create database ${name} template ${template} strategy file_copy`);
  });
  if (isOnCitus() && template === 'template1') await joinNodes(urlsOf(clusterUrl, name));
  return {
    url: withDatabase(clusterUrl, name),
    drop: async () => {
      for (const server of serversOf(clusterUrl)) {
        await until('the database is dropped', async () => await dropped(server, name));
      }
    },
  };
}

/** All servers of the cluster; on Citus the coordinator is the last one. */
function serversOf(clusterUrl: string): string[] {
  return (inject('citusUrls') ?? [clusterUrl]).toReversed();
}

function urlsOf(clusterUrl: string, name: string): string[] {
  return serversOf(clusterUrl)
    .map((server) => withDatabase(server, name))
    .toReversed();
}

async function onServers(
  clusterUrl: string,
  work: (admin: Client) => Promise<void>,
): Promise<void> {
  for (const server of serversOf(clusterUrl)) await onCluster(server, work);
}

/** False while autovacuum works there: its process is a superuser's, and ours may not end it. */
async function dropped(clusterUrl: string, name: string): Promise<boolean> {
  let done = false;
  await onCluster(clusterUrl, async (admin) => {
    const drop = `drop database if exists ${name} with (force)`;
    done = await admin.query(drop).then(
      () => true,
      (error: unknown) => {
        if (error instanceof DatabaseError && error.code === '42501') return false;
        throw error;
      },
    );
  });
  return done;
}

async function ensureTemplate(admin: Client, clusterUrl: string, shards: number): Promise<string> {
  return await ensureDatabase(
    admin,
    clusterUrl,
    `longshore_template_${shards}`,
    'template1',
    async (draft) => {
      const url = withDatabase(clusterUrl, draft);
      const urls = urlsOf(clusterUrl, draft);
      if (isOnCitus()) await joinNodes(urls);
      await migrate({
        url,
        log: silentLog,
        shards,
        ...(isOnCitus() && { backend: 'citus' as const }),
      });
      if (!isOnCitus()) await onCluster(url, installGuard);
      else if (shards === 1) await guardShard(urls);
    },
  );
}

async function ensurePrepared(
  admin: Client,
  clusterUrl: string,
  template: string,
  { name, prepare }: Preparation,
): Promise<string> {
  return await ensureDatabase(admin, clusterUrl, `${template}_${name}`, template, async (draft) => {
    await onCluster(withDatabase(clusterUrl, draft), prepare);
  });
}

/** Made by the first process that needs it, and visible to others only when it is complete. */
async function ensureDatabase(
  admin: Client,
  clusterUrl: string,
  name: string,
  template: string,
  fill: (draft: string) => Promise<void>,
): Promise<string> {
  await admin.query('select pg_advisory_lock(42)');
  try {
    const { rows } = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (rows.length > 0) return name;
    const draft = `${name}_draft`;
    await onServers(clusterUrl, async (server) => {
      await server.query(`drop database if exists ${draft} with (force)`);
      await server.query(`create database ${draft} template ${template}`);
    });
    await fill(draft);
    await onServers(clusterUrl, async (server) => {
      if (isOnCitus()) await disconnect(server, draft);
      await server.query(`alter database ${draft} rename to ${name}`);
    });
    return name;
  } finally {
    await admin.query('select pg_advisory_unlock(42)');
  }
}

/** Citus keeps a process in each database, which comes back unless connections are refused. */
async function disconnect(server: Client, name: string): Promise<void> {
  await server.query(`alter database ${name} with allow_connections false`);
  await until('no session uses the template', async () => {
    const { rows } = await server.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    );
    return rows.length === 0;
  });
}

/** Runs `work` on one plain connection, and ends it whatever happens. */
export async function onCluster(
  url: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
