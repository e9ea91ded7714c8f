import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { linkDependencies, machinePath } from '../support/machine-node.ts';
import { endAll, launch, run, type Running } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** From an empty folder to a job of one's own, edited while the server runs. */

let database: TestDatabase;
let folder: string;
let project: string;

beforeAll(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'longshore-dev-'));
  project = join(folder, 'my-jobs');
});
afterAll(async () => {
  await endAll();
  await database.close();
  await rm(folder, { recursive: true });
});

/** With the Node of this machine, as a person has it. */
function npm(...args: string[]) {
  const env = { PATH: machinePath(), HOME: process.env['HOME'] };
  return spawnSync('npm', args, { cwd: project, env, encoding: 'utf8' });
}

describe('longshore init', () => {
  it('writes a project whose test passes and whose types hold', async () => {
    const made = await run(['init', 'my-jobs'], { cwd: folder });
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('jobs/hello.ts\n') });
    expect(made.stderr).toContain('cd my-jobs');
    await linkDependencies(project);
    const tested = npm('test');
    expect(tested.stdout).toMatch(/tests 1\n.*pass 1\n/s);
    expect(tested.status).toBe(0);
    expect(npm('run', 'types')).toMatchObject({ status: 0, stderr: '' });
  });

  it('makes npm install without a warning about the Node of this machine', () => {
    const { status, stderr } = npm('install', '--dry-run', '--offline');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('overwrites nothing', async () => {
    await writeFile(join(project, 'README.md'), 'mine');
    const again = await run(['init', 'my-jobs'], { cwd: folder });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('jobs/hello.ts') });
    expect(await readFile(join(project, 'README.md'), 'utf8')).toBe('mine');
  });
});

describe('longshore dev', () => {
  let server: Running;
  const greeting = async () => {
    const client = new Longshore({ url: server.summary.address });
    return await (await client.enqueue('hello', {})).result();
  };

  it('runs the jobs, and reloads them when they are edited', async () => {
    server = await launch('dev', { env: { DATABASE_URL: database.url }, cwd: project });
    expect(await greeting()).toEqual({ greeting: 'Hello, world!' });
    const file = join(project, 'jobs/hello.ts');
    await writeFile(file, (await readFile(file, 'utf8')).replace('Hello,', 'Good evening,'));
    await until('it greets otherwise', async () => {
      const { greeting: words } = (await greeting()) as { greeting: string };
      return words === 'Good evening, world!';
    });
  });

  it('goes on when a file cannot be loaded, and says which', async () => {
    await writeFile(join(project, 'jobs/broken.ts'), 'export const x = ;');
    await until('it is told', () => server.stderr().includes('jobs/broken.ts'));
    expect(await greeting()).toEqual({ greeting: 'Good evening, world!' });
    server.signal('SIGTERM');
    expect((await server.exited).code).toBe(0);
  });
});
