import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseUidSetting } from '../../../src/core/access/job-uids.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { usersOfOtherNetworks } from '../../../src/runtime/processes/network-namespace.ts';
import { removeFolder } from '../../../src/runtime/processes/remove-folder.ts';
import type { User } from '../../../src/runtime/processes/run-as.ts';
import { isDead } from '../../../src/runtime/processes/user-processes.ts';
import { JobUsers, UidsTaken, whyNoUsers } from '../../../src/worker/isolation/job-users.ts';
import { isAlive } from '../../support/processes.ts';
import { resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';
import { until } from '../../support/until.ts';

/** Attacks by jobs on a worker that is root, and on each other. */

const SUPPORT = fileURLToPath(new URL('../../support/servers/runners.ts', import.meta.url));
const UID_LOCK = fileURLToPath(
  new URL('../../../src/runtime/processes/uid-lock.ts', import.meta.url),
);
const USERS = { runnerUids: 'auto' };
const ROOT_FILE = 'only root may change this';
const whyNot = whyNoUsers();

/** The number that a command says first. */
function numberIn(output: readonly string[]): number {
  const number = Number(output[0]?.replace('stdout: ', ''));
  if (!(number > 1)) throw new Error(`no number: ${output.join()}`);
  return number;
}

interface Who {
  uid: number;
  gid: number;
  groups: number[];
  noNewPrivileges: boolean;
  folder: string;
  pid: number;
}

describe.skipIf(whyNot !== null)('a user for each process of a job (needs root)', () => {
  let runners: TestRunners;
  let secret: string;
  beforeAll(async () => {
    runners = await testRunners('users', USERS);
    secret = mkdtempSync(join(tmpdir(), 'longshore-test-'));
  });
  afterAll(async () => {
    await runners.stop();
    rmSync(secret, { recursive: true });
  });

  const who = async (tenant: string) => resultOf(await runners.run('who-am-i', {}, tenant)) as Who;

  it('is one of its own, with its own group and no other, and can gain no rights', async () => {
    const [a, b] = [await who('a'), await who('b')];
    for (const { uid, gid, groups, noNewPrivileges } of [a, b]) {
      expect(uid).toBeGreaterThanOrEqual(50_000);
      expect([gid, groups.filter((group) => group !== uid)]).toEqual([uid, []]);
      expect(noNewPrivileges).toBe(true);
    }
    expect(a.uid).not.toBe(b.uid);
    const { output } = await runners.run('who-is-a-command');
    expect(output[0]).toMatch(/^stdout: (\d+) \1 \1 1$/);
  });

  it('cannot have root write the params of a job through a link', async () => {
    const target = join(secret, 'target');
    writeFileSync(target, ROOT_FILE, { mode: 0o600 });
    const attempts = resultOf(await runners.run('link-ahead', { target })) as string[];
    expect(attempts.filter((one) => one !== 'EACCES' && one !== 'ENOENT')).toEqual([]);
    for (let count = 0; count < 5; count += 1) await runners.run('who-is-a-command');
    expect(readFileSync(target, 'utf8')).toBe(ROOT_FILE);
    expect(statSync(target).uid).toBe(0);
  });

  it('cannot have root remove what is behind a link', async () => {
    const target = join(secret, 'precious');
    mkdirSync(target, { mode: 0o700 });
    const names = Array.from({ length: 60 }, (_, index) => String(index));
    for (const name of names) writeFileSync(join(target, name), ROOT_FILE);
    for (let count = 0; count < 5; count += 1) {
      const folder = resultOf(await runners.run('swap', { target })) as string;
      await until('its folder is gone', () => !existsSync(folder));
      expect(readdirSync(target)).toHaveLength(names.length);
    }
  });

  it('is what its processes are ended by, whatever else they take off', async () => {
    const pid = resultOf(await runners.run('untagged')) as number;
    expect(pid).toBeGreaterThan(1);
    expect(isAlive(pid)).toBe(false);
  });

  it('identifies its processes for the kill, also those that stop the killer', async () => {
    const begun = await runners.begin('stops-its-killers');
    await until('it has left a process', () => begun.output.length > 0);
    begun.runner.kill();
    await begun.ended;
    expect(isAlive(numberIn(begun.output))).toBe(false);
  });

  it.each([
    ['a control group', {}],
    ['none', { controlGroups: () => null }],
  ])('is what a process without a first thread is ended by (%s)', async (_, options) => {
    const own = await testRunners('users', { ...USERS, ...options });
    try {
      const { output } = await own.run('headless');
      const status = `/proc/${numberIn(output)}/status`;
      expect(!existsSync(status) || isDead(readFileSync(status, 'utf8'))).toBe(true);
    } finally {
      await own.stop();
    }
  });

  it('keeps other jobs out of its files, and its process alive', async () => {
    const victim = await runners.begin('read-params', { secret: 'of a' }, 'a');
    await until('it runs', () => victim.messages.length > 0);
    const file = victim.output[0]?.replace('stdout: ', '') ?? '';
    expect(existsSync(file)).toBe(true);
    const params = { pid: victim.runner.pid, paths: [file] };
    expect(resultOf(await runners.run('meddle', params, 'b'))).toEqual({
      kill: 'EPERM',
      environment: 'EACCES',
      descriptor: 'EACCES',
      files: ['EACCES'],
      folders: ['EACCES'],
    });
    expect(isAlive(victim.runner.pid ?? 0)).toBe(true);
    victim.runner.kill();
    await victim.ended;
    expect(existsSync(file)).toBe(false);
  });

  it('is given to another job only when nothing is left of the one before', async () => {
    const seen = new Map<string, string[]>();
    for (;;) {
      const name = `longshore-litter-${randomUUID()}`;
      const { output } = await runners.run('litter', name);
      const uid = output[0] ?? '';
      const earlier = seen.get(uid);
      if (earlier) {
        expect(earlier.filter((path) => existsSync(path))).toEqual([]);
        break;
      }
      // The shell keeps the quotes that JSON puts around the name.
      const paths = ['/tmp', '/dev/shm'].map((folder) => join(folder, `"${name}"`));
      expect(paths.every((path) => existsSync(path))).toBe(true);
      seen.set(uid, paths);
    }
    expect(seen.size).toBeGreaterThan(10);
    await runners.stop();
    expect([...seen.values()].flat().filter((path) => existsSync(path))).toEqual([]);
    runners = await testRunners('users', USERS);
  });
});

describe.skipIf(whyNot !== null)('two workers of one machine (needs root)', () => {
  const claim = async (text: string) => {
    const setting = parseUidSetting(text);
    if (setting === null || setting === 'none') throw new Error(text);
    return await JobUsers.claim({ setting, runners: 16, log: silentLog });
  };

  it('never share a user', async () => {
    const [a, b] = [await claim('auto'), await claim('auto')];
    expect(a.ids.filter((id) => b.ids.includes(id))).toEqual([]);
    await Promise.all([a.close(), b.close()]);
  });

  const LOCK = 'longshore-uids-78080';

  it('take the lock on their ids from a job, and never from each other', async () => {
    const listen = `require('node:net').createServer().listen('\\0${LOCK}', () => console.log('taken'))`;
    const squatter = spawn(process.execPath, ['-e', listen], {
      uid: 78_900,
      gid: 78_900,
      cwd: '/',
    });
    await once(squatter.stdout, 'data');
    const users = await claim('78080-78143');
    expect(users.ids).toHaveLength(64);
    if (squatter.exitCode === null && squatter.signalCode === null) await once(squatter, 'exit');
    expect(squatter.signalCode).toBe('SIGKILL');
    await expect(claim('78080-78143')).rejects.toThrow(UidsTaken);
    await users.close();
  });

  it('leave ids alone that have a process in another network', async () => {
    const other = spawn('unshare', ['-n', 'setpriv', '--reuid', '78090', 'sleep', '600'], {
      stdio: 'ignore',
    });
    await until('it has its user and its network', async () =>
      (await usersOfOtherNetworks((uid) => uid === 78_090)).has(78_090),
    );
    const users = await claim('78080-78207');
    expect(users.ids).toEqual(Array.from({ length: 64 }, (_, at) => 78_144 + at));
    await expect(claim('78080-78143')).rejects.toThrow(UidsTaken);
    expect(other.exitCode ?? other.signalCode).toBeNull();
    other.kill('SIGKILL');
    await users.close();
  });

  it('do not run jobs as root when others hold all ids', () => {
    const code = `
      const { testRunners } = await import(${JSON.stringify(SUPPORT)});
      const { UidLock } = await import(${JSON.stringify(UID_LOCK)});
      for (let start = 49_984; start < 80_000; start += 64) await UidLock.take(start);
      await testRunners('users', { runnerUids: 'auto' }).catch((error) => console.log(error.message));
      process.exit();`;
    // The names of the locks belong to a network namespace, so that no other worker is disturbed.
    const { stdout } = spawnSync(
      'unshare',
      ['-n', process.execPath, '--input-type=module', '-e', code],
      {
        encoding: 'utf8',
      },
    );
    expect(stdout).toMatch(/^too few user ids are free/);
  });

  it('can use an id again after a job let another one put a folder into its own', async () => {
    const users = await claim('78080-78143');
    const [a, b] = [users.acquire(), users.acquire()];
    const folder = mkdtempSync(join(tmpdir(), 'longshore-test-'));
    const inner = join(folder, 'inner');
    mkdirSync(join(inner, 'inmost'), { recursive: true });
    for (const [path, { uid }] of [
      [folder, a],
      [inner, b],
      [join(inner, 'inmost'), a],
    ] as const) {
      chownSync(path, uid, uid);
      chmodSync(path, 0o700);
    }
    await expect(removeFolder(folder, a)).rejects.toThrow('ENOTEMPTY');
    users.release(a, folder);
    users.release(b, null);
    await reused(users, a);
    expect(existsSync(folder)).toBe(false);
    await users.close();
  });

  it('can use an id again after a job left more files than fit into one command', async () => {
    const users = await claim('78080-78143');
    const user = users.acquire();
    const prefix = `/dev/shm/longshore-${randomUUID()}-`;
    const names = Array.from(
      { length: 10_000 },
      (_, index) => prefix + String(index).padEnd(190, 'x'),
    );
    for (const name of names) {
      writeFileSync(name, '');
      chownSync(name, user.uid, user.gid);
    }
    users.release(user, null);
    await reused(users, user);
    expect(names.filter((name) => existsSync(name))).toEqual([]);
    await users.close();
  });

  /** Ids are cleaned when there are few left. */
  const reused = async (users: JobUsers, wanted: User) =>
    await until('the id is used again', () => {
      try {
        for (;;) if (users.acquire().uid === wanted.uid) return true;
      } catch {
        return false;
      }
    });

  it('report a range that is too small', async () => {
    await expect(claim('78000-78009')).rejects.toThrow(/78000-78009 has 10 of 32.*larger range/);
  });
});

describe.skipIf(whyNot !== null)('code that would run inside the worker (needs root)', () => {
  it("is refused, with the definition's name and what to do", async () => {
    await expect(testRunners('inside', USERS)).rejects.toThrow(
      /^inline: isolation 'inline' would run it inside the worker, as root.*\nthread: isolation/s,
    );
  });

  it('runs where the operator says so', async () => {
    const runners = await testRunners('inside', { ...USERS, inlineJobs: 'always' });
    expect(resultOf(await runners.run('inline'))).toBe(0);
    expect(resultOf(await runners.run('outside'))).toBeGreaterThanOrEqual(50_000);
    await runners.stop();
  });
});

const INDEX = fileURLToPath(new URL('../../../src/index.ts', import.meta.url));

describe.skipIf(whyNot !== null)(
  'code below a folder that only root may enter (needs root)',
  () => {
    let top: string;
    let project: string;
    const file = (name: string, text: string, mode = 0o644) => {
      const path = join(project, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
      writeFileSync(path, text);
      chmodSync(path, mode);
      return path;
    };
    const prepare = (mode: number) => {
      top = mkdtempSync(join(tmpdir(), 'longshore-test-'));
      project = join(top, "it's a project");
      mkdirSync(project, { mode });
      file('package.json', '{"type":"module"}');
      file('lib/helper.ts', `export const help = 'helped';`);
      file('node_modules/some/index.js', `export const some = 'some';`);
      file(
        'node_modules/some/package.json',
        '{"name":"some","type":"module","exports":"./index.js"}',
      );
      file(
        'jobs/jobs.ts',
        `import { readFileSync, writeFileSync } from 'node:fs';
      import { defineJob, defineCommand } from ${JSON.stringify(INDEX)};
      import { help } from '../lib/helper.ts';
      import { some } from 'some';
      const attempt = (act) => { try { return act(); } catch (error) { return error.code; } };
      export const look = defineJob({ key: 'look', run: ({ paths, own }) => ({
        help, some, uid: process.getuid(), cwd: process.cwd(),
        read: paths.map((path) => attempt(() => readFileSync(path, 'utf8'))),
        write: attempt(() => writeFileSync(own, 'x')),
      }) });
      export const here = defineCommand({ key: 'here', command: ['/bin/sh', './here.sh'] });`,
      );
      file('jobs/here.sh', 'pwd; id -u');
    };
    afterEach(() => rmSync(top, { recursive: true, force: true }));

    it.each([0o755, 0o700])('runs, and shows nothing else (%o)', async (mode) => {
      prepare(mode);
      const hidden = [
        file('.env', 'secret'),
        file('longshore.config.json', 'secret'),
        file('.longshore/data', 'secret'),
        file('key.pem', 'secret', 0o600),
      ];
      writeFileSync(join(top, 'beside'), 'secret');
      const runners = await testRunners(join(project, 'jobs'), USERS);
      try {
        const paths = [...hidden, join(top, 'beside')];
        const own = join(project, 'jobs', 'new.ts');
        const seen = resultOf(await runners.run('look', { paths, own })) as Record<string, unknown>;
        expect(seen).toMatchObject({ help: 'helped', some: 'some', cwd: process.cwd() });
        expect(seen['uid']).toBeGreaterThanOrEqual(50_000);
        for (const answer of seen['read'] as string[]) expect(answer).toMatch(/^(ENOENT|EACCES)$/);
        expect(seen['write']).toMatch(/EACCES|EROFS/);
        const { output } = await runners.run('here');
        expect(output[0]).toBe(`stdout: ${join(project, 'jobs')}`);
        // A project that others may read is shown as a whole, also to processes that run already.
        const later = { paths: [file('prices.json', '3')], own };
        const { read } = resultOf(await runners.run('look', later)) as { read: string[] };
        expect(read).toEqual([mode === 0o755 ? '3' : 'ENOENT']);
      } finally {
        await runners.stop();
      }
    });

    it('runs in a folder of the worker that is private as well', async () => {
      prepare(0o700);
      const code = `
      const { testRunners } = await import(${JSON.stringify(SUPPORT)});
      const runners = await testRunners(${JSON.stringify(join(project, 'jobs'))}, { runnerUids: 'auto' });
      const { outcome } = await runners.run('look', { paths: [], own: 'here' });
      console.log(outcome.outcome.resultJson);
      await runners.stop();`;
      const cwd = mkdtempSync(join(tmpdir(), 'longshore-test-'));
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
        cwd,
        encoding: 'utf8',
      });
      rmSync(cwd, { recursive: true });
      expect({ stderr, ...(JSON.parse(stdout) as object) }).toMatchObject({ cwd, help: 'helped' });
    });

    it('is not run as root when other users may not read it, unless that is said aloud', async () => {
      prepare(0o755);
      chmodSync(join(project, 'jobs'), 0o700);
      const jobs = join(project, 'jobs');
      await expect(testRunners(jobs, USERS)).rejects.toThrow(
        /^jobs run as root.*other users may not read .*chmod -R o\+rX/,
      );
      await expect(testRunners(jobs, { runnerUids: '70000-79999' })).rejects.toThrow(
        'may not read',
      );
    });
  },
);

describe.skipIf(whyNot !== null)('a folder that only root can get to (needs root)', () => {
  it('is not the working directory of a job: neither that of the worker, nor that of a command', () => {
    const top = mkdtempSync(join(tmpdir(), 'longshore-test-'));
    const jobs = mkdtempSync(join(tmpdir(), 'longshore-test-'));
    const inner = join(top, 'inner');
    mkdirSync(inner);
    writeFileSync(join(inner, '.env'), 'secret');
    for (const path of [jobs, inner]) chmodSync(path, 0o755);
    writeFileSync(
      join(jobs, 'jobs.ts'),
      `import { readFileSync } from 'node:fs';
      import { defineJob, defineCommand } from ${JSON.stringify(INDEX)};
      const read = () => { try { return readFileSync('.env', 'utf8'); } catch (error) { return error.code; } };
      export const look = defineJob({ key: 'look', run: () => [read(), process.cwd()] });
      export const peek = defineCommand({
        key: 'peek', command: ['/bin/cat', '.env'], cwd: ${JSON.stringify(inner)} });`,
    );
    const code = `
      const { testRunners } = await import(${JSON.stringify(SUPPORT)});
      const runners = await testRunners(${JSON.stringify(jobs)}, { runnerUids: 'auto' });
      const { outcome } = await runners.run('look');
      const peek = await runners.run('peek');
      console.log(JSON.stringify([JSON.parse(outcome.outcome.resultJson), peek.outcome.outcome.kind, peek.output]));
      await runners.stop();`;
    const args = ['--input-type=module', '-e', code];
    const { stdout } = spawnSync(process.execPath, args, { cwd: inner, encoding: 'utf8' });
    for (const path of [top, jobs]) rmSync(path, { recursive: true });
    const [look, peek, output] = JSON.parse(stdout) as [string[], string, string[]];
    expect(look).toEqual(['ENOENT', '/']);
    expect(peek).toBe('failure');
    expect(output.join()).not.toContain('secret');
  });
});
