import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { testDatabase, type TestDatabase } from '../support/database.ts';
import { endAll, launch, run, type Running } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** From an empty folder to a job of one's own, edited while the server runs. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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

/** In place of `npm install`, which needs a registry. */
async function install(): Promise<void> {
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, '@types'), { recursive: true });
  await symlink(ROOT, join(modules, 'longshore'));
  for (const name of ['zod', 'typescript', '@types/node']) {
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
}

describe('longshore init', () => {
  it('writes a project whose test passes and whose types hold', async () => {
    const made = await run(['init', 'my-jobs'], { cwd: folder });
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('jobs/hello.ts\n') });
    expect(made.stderr).toContain('cd my-jobs');
    await install();
    const tested = spawnSync(process.execPath, ['--test'], {
      cwd: project,
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    });
    expect(tested.stdout).toMatch(/pass 1/);
    expect(tested.status).toBe(0);
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [compiler, '--noEmit'], { cwd: project });
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
