import { spawnSync } from 'node:child_process';
import { existsSync, openSync, closeSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../support/processes.ts';
import { resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';
import { until } from '../../support/until.ts';

interface Seen {
  env: Record<string, string>;
  descriptors: string[];
  umask: number;
  uid: number;
  gid: number;
  groups: number[];
  execArgv: string[];
  folder: string;
  files: string[];
  pid: number;
}

const NO_USER = 65_534;
const SUPPORT = fileURLToPath(new URL('../../support/servers/runners.ts', import.meta.url));
const FLAGS = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e'];
const isRoot = process.getuid?.() === 0;

/** What a worker has in its environment and what must not get from there to a job. */
const OURS = {
  DATABASE_URL: 'postgres://secret',
  LONGSHORE_API_KEY: 'secret',
  NODE_OPTIONS: '--no-warnings',
  PGPASSWORD: 'secret',
  AWS_REGION: 'here',
  AWS_KEY: 'there',
  TEAM: 'media',
};

/** The four that it has, and nothing in place of those it must not have. */
const isOwn = (line: string) => /^[0-3] (socket|pipe|\/)|^\d+ \/dev\/null$/.test(line);
/** What Node opens for itself. */
const isNodes = (line: string) => /^\d+ (anon_inode|pipe|closed|\/proc\/\d+\/)/.test(line);

beforeEach(() => void Object.assign(process.env, OURS));
afterEach(() => {
  for (const name of Object.keys(OURS)) delete process.env[name];
});

describe('the room of a job', () => {
  let runners: TestRunners;
  let open: number;
  const see = async (key: string) => resultOf(await runners.run(key)) as Seen;
  const lines = async (key: string) =>
    (await runners.run(key)).output.map((line) => line.replace('stdout: ', ''));

  beforeAll(async () => {
    // A file that the worker has open is none of a job's business.
    open = openSync(fileURLToPath(import.meta.url), 'r');
    Object.assign(process.env, OURS);
    runners = await testRunners('room');
  });
  afterAll(async () => {
    closeSync(open);
    await runners.stop();
  });

  it.each(['look', 'look-fresh'])('has a chosen environment: %s', async (key) => {
    const { env, folder } = await see(key);
    expect(env).toMatchObject({ PATH: process.env['PATH'], TMPDIR: folder });
    for (const name of Object.keys(OURS)) expect(env).not.toHaveProperty(name);
    expect(Object.keys(env).filter((name) => /LONGSHORE|VITEST/.test(name))).toEqual([]);
  });

  it('has a chosen environment: a thread', async () => {
    const env = resultOf(await runners.run('look-thread')) as Seen['env'];
    expect(env['PATH']).toBe(process.env['PATH']);
    for (const name of Object.keys(OURS)) expect(env).not.toHaveProperty(name);
  });

  it('has a chosen environment: a command, with the variables of its job', async () => {
    const names = (await lines('environment')).map((line) => line.split('=')[0]);
    expect(names).toContain('PATH');
    expect(names.filter((name) => name?.startsWith('LONGSHORE'))).toEqual([
      'LONGSHORE_ATTEMPT',
      'LONGSHORE_JOB_ID',
      'LONGSHORE_PARAMS_FILE',
    ]);
    for (const name of Object.keys(OURS)) expect(names).not.toContain(name);
  });

  it('starts Node without what the worker was started with', async () => {
    const { execArgv } = await see('look');
    expect(execArgv.filter((flag) => /inspect|--import|--require/.test(flag))).toEqual([]);
  });

  it('has no open files but its own', async () => {
    const { descriptors, folder } = await see('look-fresh');
    const foreign = descriptors.filter((line) => !isOwn(line) && !isNodes(line));
    expect(foreign.filter((line) => !line.endsWith(` ${folder}`))).toEqual([]);
    const listed = (await lines('descriptors')).flatMap((line) => {
      const [, name, target] = / (\d+) -> (.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [`${name} ${target}`];
    });
    expect(listed.length).toBeGreaterThanOrEqual(4);
    expect(listed.filter((line) => !isOwn(line))).toEqual([]);
  });

  it('has none of those that the worker was started with', () => {
    const code = `
      const { testRunners } = await import(${JSON.stringify(SUPPORT)});
      const runners = await testRunners('room');
      const { output } = await runners.run('descriptors');
      console.log(output.join('\\n'));
      await runners.stop();`;
    const { stdout } = spawnSync(process.execPath, [...FLAGS, code], {
      stdio: ['ignore', 'pipe', 'inherit', ...Array<'ignore'>(37).fill('ignore'), open],
      encoding: 'utf8',
    });
    expect(stdout).toContain(' 40 -> /dev/null');
    expect(stdout).not.toContain(fileURLToPath(import.meta.url));
  });

  it('keeps what a job writes to itself, and dumps no core', async () => {
    expect((await see('look')).umask).toBe(0o077);
    const [umask, core, , mode] = await lines('limits');
    expect([umask, core, mode]).toEqual(['0077', '0', '700']);
  });

  it.each(['litter', 'litter-thread'])(
    'is empty for the next job that runs in it: %s',
    async (key) => {
      const seen = [await see(key), await see(key), await see(key)];
      expect(new Set(seen.map(({ folder }) => folder)).size).toBe(1);
      expect(seen.map(({ files }) => files)).toEqual([[], [], []]);
      expect(seen[0]?.folder).not.toBe((await see('look-fresh')).folder);
    },
  );

  it('is removed after a process that is used once', async () => {
    const { folder } = await see('look-fresh');
    await until('it is removed', () => !existsSync(folder));
  });
});

describe('variables that the operator names', () => {
  it('reach jobs, and no others do', async () => {
    const runners = await testRunners('room', { runnerEnv: 'TEAM,AWS_*' });
    const { env } = resultOf(await runners.run('look')) as Seen;
    expect(env).toMatchObject({ TEAM: 'media', AWS_REGION: 'here', AWS_KEY: 'there' });
    expect(env).not.toHaveProperty('PGPASSWORD');
    expect(resultOf(await runners.run('look-thread'))).toHaveProperty('TEAM');
    await runners.stop();
  });
});

describe('a worker that stops', () => {
  it('leaves no folder and no process', async () => {
    const runners = await testRunners('room');
    const { folder, pid } = resultOf(await runners.run('litter')) as Seen;
    expect(existsSync(dirname(folder))).toBe(true);
    expect(statSync(dirname(folder)).mode & 0o077).toBe(0);
    await runners.stop();
    expect(existsSync(dirname(folder))).toBe(false);
    expect(isAlive(pid)).toBe(false);
  });
});

describe.runIf(isRoot)('users of their own (need a worker that is root)', () => {
  it('are refused to a worker that is not root, with what to do', () => {
    const code = `
      const { testRunners } = await import(${JSON.stringify(SUPPORT)});
      await testRunners('room', { runnerUids: '70000-79999' });`;
    const { status, stderr } = spawnSync(process.execPath, [...FLAGS, code], {
      uid: NO_USER,
      gid: NO_USER,
      cwd: '/',
      encoding: 'utf8',
    });
    expect(status).not.toBe(0);
    expect(stderr).toContain('only root may start a process as another user');
  });
});
