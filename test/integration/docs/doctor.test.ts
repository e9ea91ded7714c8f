import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { configOf } from '../../../src/config/options.ts';
import { diagnose } from '../../../src/app/diagnose.ts';
import type { Check, CheckName } from '../../../src/doctor/check.ts';
import { memoryMethod } from '../../../src/runtime/processes/cgroup.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { migrate, readMigrations } from '../../../src/store/connection/migrate.ts';
import { CACHED } from '../../support/compile-cache.ts';
import { emptyDatabase, onCluster, sharedDatabase } from '../../support/servers/database.ts';
import { EmbeddedFixture } from '../../support/servers/embedded-fixture.ts';
import { hasPgbouncer, startPgbouncer } from '../../support/servers/pgbouncer.ts';
import { endAll, FIXTURES, launch, run } from '../../support/processes.ts';
import { hasRedis, startRedis } from '../../support/servers/redis.ts';

/** What the doctor sees of real databases, servers and files. How it judges is tested beside it. */

const JOBS = join(FIXTURES, 'jobs');

const database = sharedDatabase();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-doctor-'));
});
afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

type Checks = Partial<Record<CheckName, Omit<Check, 'name'>>>;

function byName(checks: readonly Check[]): Checks {
  return Object.fromEntries(checks.map(({ name, ...rest }) => [name, rest]));
}

/** Without definitions, unless they are what is looked at: loading them takes longer than all else. */
async function look(settings: Record<string, unknown>): Promise<Checks> {
  const nowhere = { jobs: join(folder, 'nothing'), data: join(folder, 'none') };
  const config = configOf({ ...CACHED, ...nowhere, port: 0, ...settings }, []);
  return byName(await diagnose(config, silentLog, { probe: false }));
}

/** As a person runs it. */
async function command(env: Record<string, string>) {
  const settings = { LONGSHORE_JOBS: JOBS, LONGSHORE_PORT: '0', ...env };
  const { code, stdout, stderr } = await run(['doctor', '--json', '--no-probe'], {
    env: settings,
    cwd: folder,
  });
  expect(stderr).toBe('');
  return { code, checks: byName((JSON.parse(stdout) as { checks: Check[] }).checks) };
}

const OF_A_SERVER: CheckName[] = [
  'postgres-version',
  'session-settings',
  'durability',
  'permissions',
  'migrations',
  'clock',
];

describe('the embedded database', () => {
  it('is looked at as it is: absent, running, stopped', async () => {
    const fixture = await EmbeddedFixture.createQuick();
    onTestFinished(async () => await fixture.remove());
    const env = { LONGSHORE_DATA: fixture.dataDir };

    const absent = await command(env);
    expect(absent.code).toBe(0);
    expect(absent.checks.database).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('created by the first "npx longshore start"'),
    });
    expect(existsSync(fixture.dataDir)).toBe(false);

    const server = fixture.server();
    await server.start();
    await migrate({ url: server.url, log: silentLog, shards: 1 });
    for (const settings of [env, { DATABASE_URL: server.url }]) {
      const { code, checks } = await command(settings);
      expect(code).toBe(0);
      for (const name of ['database', ...OF_A_SERVER] as const) {
        expect([name, checks[name]?.status]).toEqual([name, 'ok']);
      }
    }

    await server.stop();
    const stopped = await command(env);
    expect(stopped.code).toBe(0);
    expect(stopped.checks.database).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('not running, starts with "npx longshore start"'),
    });
    expect(Object.keys(stopped.checks)).not.toEqual(expect.arrayContaining(OF_A_SERVER));
    expect(existsSync(join(fixture.folder, 'postmaster.pid'))).toBe(false);
  });

  it('is refused in words that say what to do', async () => {
    const data = join(folder, 'other-version');
    await mkdir(join(data, 'pg'), { recursive: true });
    await writeFile(join(data, 'pg', 'PG_VERSION'), '12\n');
    await writeFile(join(data, 'pg', 'longshore-password'), 'secret');
    // As root, PostgreSQL runs as the owner of the folder, and root itself is refused before.
    const { database: found } = await look({ data });
    expect(found?.status).toBe('problem');
    expect(found?.detail).toMatch(/was made by PostgreSQL 12|belongs to root/);
    expect(found?.fix).toMatch(/LONGSHORE_DATA|chown/);
  });
});

describe('a given database', () => {
  it('is not migrated', async () => {
    const empty = await emptyDatabase();
    onTestFinished(empty.drop);
    const { code, checks } = await command({ DATABASE_URL: empty.url });
    const names = (await readMigrations()).map(({ name }) => name);
    expect(checks.migrations).toMatchObject({
      status: 'warning',
      detail: `${names.length} pending: ${names.join(', ')}`,
      fix: expect.stringContaining('npx longshore migrate'),
    });
    await onCluster(empty.url, async (client) => {
      const { rows } = await client.query(`select from pg_namespace where nspname = 'longshore'`);
      expect(rows).toEqual([]);
    });
    // The cluster of the tests waits for no disk, which is just what must not go unnoticed.
    expect(checks.durability).toMatchObject({ status: 'problem' });
    expect(code).toBe(1);
  });

  it('that cannot be reached gives exit code 6, and keeps its password to itself', async () => {
    const { code, checks } = await command({ DATABASE_URL: 'postgres://u:secret@127.0.0.1:9/x' });
    expect(code).toBe(6);
    expect(checks.database).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('ECONNREFUSED'),
      fix: expect.stringContaining('start PostgreSQL there'),
    });
    expect(JSON.stringify(checks)).not.toContain('secret');
    expect(Object.keys(checks)).not.toEqual(expect.arrayContaining(OF_A_SERVER));
  });

  it.each([
    ['a wrong password', (url: URL) => (url.password = 'wrong'), 'correct the user and password'],
    ['a wrong name', (url: URL) => (url.pathname = '/nothing'), 'create the database'],
  ])('with %s says which part of the URL it is', async (_, spoil, fix) => {
    const url = new URL(database.url);
    spoil(url);
    const { database: found } = await look({ databaseUrl: url.href });
    expect(found).toMatchObject({ status: 'problem', fix: expect.stringContaining(fix) });
  });

  it('names the rights that a role lacks, and is content when it has them', async () => {
    const empty = await emptyDatabase();
    const role = `doctor_${process.pid}`;
    const owner = `${role}_owner`;
    onTestFinished(async () => {
      await empty.drop();
      await onCluster(inject('clusterUrl'), async (client) => {
        await client.query(`drop role ${role}, ${owner}`);
      });
    });
    const asOwner = async (text: string) =>
      await onCluster(empty.url, async (client) => void (await client.query(text)));
    const url = new URL(empty.url);
    [url.username, url.password] = [owner, 'secret'];
    const ownersUrl = url.href;
    url.username = role;
    const permissions = async () => (await look({ databaseUrl: url.href })).permissions;
    /** Does what the fix says, to the letter. */
    const follow = async (check: Checks['permissions']) => {
      expect(check?.status).toBe('problem');
      await asOwner(/GRANT .*/.exec(check?.fix ?? '')?.[0] ?? 'no fix');
    };

    for (const name of [role, owner]) {
      await asOwner(`create role ${name} login password 'secret'`);
    }
    await asOwner(`alter database ${url.pathname.slice(1)} owner to ${owner}`);
    await follow(await permissions());
    expect(await permissions()).toMatchObject({ status: 'ok' });

    await migrate({ url: ownersUrl, log: silentLog, shards: 1 });
    const { permissions: none, migrations } = await look({ databaseUrl: url.href });
    expect(migrations).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(/denied/),
    });
    await follow(none);
    const foreign = await permissions();
    expect(foreign?.detail).toContain(`owned by "${owner}"`);
    await follow(foreign);
    expect(await permissions()).toMatchObject({ status: 'ok' });

    await asOwner(`alter role ${role} set default_transaction_read_only = on`);
    expect(await permissions()).toMatchObject({ detail: expect.stringContaining('read-only') });
  });

  it('that a server would refuse is a problem', async () => {
    const { migrations: shards } = await look({ databaseUrl: database.url, shards: 4 });
    expect(shards).toMatchObject({ status: 'problem', fix: 'set LONGSHORE_SHARDS=1' });
    await database.sql(`insert into longshore.migration (number, name, checksum, breaking)
      values (998, '0998_near', 'x', false)`);
    const { migrations: newer } = await look({ databaseUrl: database.url });
    expect(newer).toMatchObject({ status: 'ok', detail: expect.stringContaining('0998_near') });
    await database.sql('update longshore.migration set breaking = true where number = 998');
    const { migrations: breaking } = await look({ databaseUrl: database.url });
    await database.sql('delete from longshore.migration where number = 998');
    expect(breaking).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('install that version'),
    });
  });

  it.skipIf(!hasPgbouncer)('behind a pooler that was not announced', async () => {
    const fix = expect.stringContaining('LONGSHORE_POOLER=transaction');
    for (const [name, more] of [
      ['database', {}],
      ['session-settings', { ignore_startup_parameters: 'options' }],
    ] as const) {
      const pooler = await startPgbouncer(inject('clusterUrl'), 2, more);
      onTestFinished(async () => await pooler.server.remove());
      const databaseUrl = pooler.through(database.url);
      expect((await look({ databaseUrl }))[name]).toMatchObject({ status: 'problem', fix });
      const announced = await look({ databaseUrl, pooler: 'transaction' });
      expect(announced.database?.status).toBe('ok');
      expect(announced['session-settings']).toMatchObject({ status: 'warning' });
    }
  });
});

describe('the definitions', () => {
  const broken = join(FIXTURES, 'broken');

  it('are loaded in a process that leaves nothing behind', async () => {
    const TMPDIR = await mkdtemp(join(folder, 'tmp-'));
    const jobs = join(folder, 'leaver.ts');
    const longshore = new URL('../../../src/index.ts', import.meta.url).href;
    await writeFile(
      jobs,
      `import { spawn } from 'node:child_process';
      import { defineJob } from '${longshore}';
      spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref();
      export const left = defineJob({ key: 'left', run: () => 1 });`,
    );
    const { checks } = await command({ TMPDIR, LONGSHORE_JOBS: jobs, LONGSHORE_DATA: folder });
    expect(checks.definitions).toEqual({ status: 'ok', detail: `1 in ${jobs}`, fix: null });
    expect(checks.isolation).toMatchObject({ status: 'ok' });
    expect(readdirSync(TMPDIR)).toEqual([]);
    expect(withVariable(TMPDIR)).toEqual([]);
  });

  it('are reported as a worker reports them', async () => {
    const { definitions } = await look({ jobs: broken });
    expect(definitions).toMatchObject({ status: 'problem' });
    for (const words of ['did you mean "maxAttempts"', 'SyntaxError', 'this file throws']) {
      expect(definitions?.detail).toContain(words);
    }
    expect((await look({})).definitions).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('no such file or folder'),
    });
  });

  it('that end the process while they are loaded are a problem', async () => {
    const jobs = join(folder, 'ends.ts');
    await writeFile(jobs, 'process.exit(3);');
    const { definitions, isolation } = await look({ jobs });
    expect(definitions).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching('ended'),
    });
    expect(isolation).toBeUndefined();
  });
});

describe('the machine', () => {
  it('tells how memory limits are held', async () => {
    const { 'memory-limits': found } = await look({});
    expect(found?.detail.startsWith(`${memoryMethod()}: `)).toBe(true);
  });

  it('must let us write where the data is to be', async () => {
    await writeFile(join(folder, 'a-file'), '');
    const { 'data-folder': file } = await look({ data: join(folder, 'a-file') });
    expect(file).toMatchObject({ status: 'problem' });
    const { 'data-folder': fresh } = await look({ data: join(folder, 'to', 'be', 'made') });
    expect(fresh?.detail).toMatch(/GB free$/);
    expect(existsSync(join(folder, 'to'))).toBe(false);
    const given = await look({ databaseUrl: database.url });
    expect(given).not.toHaveProperty('data-folder');
  });
});

describe('the port', () => {
  const portOf = async (port: number) => (await look({ port })).port;

  it('is free, or in use by another program', async () => {
    const other = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    expect(await portOf(port)).toMatchObject({
      status: 'problem',
      detail: `another program listens on 127.0.0.1:${port}`,
    });
    await new Promise((resolve) => other.close(resolve));
    expect(await portOf(port)).toMatchObject({ status: 'ok', detail: `127.0.0.1:${port} is free` });
  });

  it('may be that of a Longshore, ready or not', async () => {
    const empty = await emptyDatabase();
    const server = await launch('api', { env: { DATABASE_URL: empty.url } });
    const port = Number(new URL(server.summary.address).port);
    const ready = await portOf(port);
    expect(ready).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^Longshore \d.* responds/),
    });
    await empty.drop();
    // The server asks its database once a second.
    await expect
      .poll(async () => await portOf(port), { timeout: 30_000 })
      .toMatchObject({
        status: 'warning',
        detail: expect.stringContaining('is not ready'),
      });
  });

  it('must be one of loopback until there is a key', async () => {
    const { port } = await look({ host: '0.0.0.0', port: 4_400 });
    expect(port).toMatchObject({
      status: 'problem',
      fix: 'create a key, or set LONGSHORE_HOST to 127.0.0.1',
    });
  });
});

describe('Redis', () => {
  it('is looked at when it is used, and may be away', async () => {
    expect(await look({})).not.toHaveProperty('redis');
    const { redis } = await look({ redisUrl: 'redis://:secret@127.0.0.1:9' });
    expect(redis).toMatchObject({ status: 'warning', detail: expect.stringMatching('ECONNREF') });
    expect(redis?.detail).not.toContain('secret');
  });

  it.skipIf(!hasRedis)('answers', async () => {
    const { server, url } = await startRedis();
    onTestFinished(async () => await server.remove());
    expect((await look({ redisUrl: url })).redis).toMatchObject({ status: 'ok', detail: url });
  });
});

it('looks at brokers when there are any, and they may be away', async () => {
  expect(await look({})).not.toHaveProperty('brokers');
  const { brokers } = await look({ brokers: 'rabbit=amqp://me:secret@127.0.0.1:9' });
  expect(brokers).toMatchObject({ status: 'warning', detail: expect.stringMatching('ECONNREF') });
  expect(brokers?.detail).not.toContain('secret');
});

/** The processes that were started with a variable of this value. */
function withVariable(value: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'utf8').includes(value);
    } catch {
      return false;
    }
  });
}
