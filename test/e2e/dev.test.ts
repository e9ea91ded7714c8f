import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { shortId } from '../../src/core/job/short-id.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { linkDependencies, machinePath } from '../support/machine-node.ts';
import { begin, endAll, launch, run, type Running } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** From an empty folder to a job of one's own, edited while the server runs. */

let database: TestDatabase;
let folder: string;
let project: string;

const REFUSE = `import { defineJob } from 'longshore';

function refuse(): never {
  throw new Error('no');
}

export const job = defineJob({ key: 'refuse', maxAttempts: 1, run: () => refuse() });
`;

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
    // The project has less strict settings than Longshore, whose sources it reads in a checkout.
    const all = ['', '/client', '/batteries', '/testing'].map(
      (part) => `import 'longshore${part}';`,
    );
    await writeFile(join(project, 'test/all.ts'), all.join('\n'));
    expect(npm('run', 'types')).toMatchObject({ status: 0, stderr: '' });
    await rm(join(project, 'test/all.ts'));
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

describe('longshore dev for a person', () => {
  it('says at once that it starts, and has a line for each step of a job', async () => {
    await writeFile(join(project, 'jobs/refuse.ts'), REFUSE);
    const env = { DATABASE_URL: database.url };
    const server = begin('dev', { env, cwd: project, plain: true });
    const url = await until('it is up', () => /^ +address +(\S+)$/m.exec(server.stderr())?.[1]);
    expect(server.stderr()).toMatch(/^Longshore is starting…\n/);
    expect(server.stderr()).not.toContain('{"level"');
    const client = new Longshore({ url });
    await (await client.enqueue('hello', {})).wait();
    const { jobId } = await (await client.enqueue('refuse', {})).wait();
    const failed = new RegExp(`^\\S+ {2}refuse +${shortId(jobId)} {2}✗ failed on attempt 1 `, 'm');
    await until('the failure is shown', () => failed.test(server.stderr()));
    expect(server.stderr()).toMatch(/: HANDLER_ERROR no\n +at refuse \(jobs\/refuse\.ts:4:\d+\)\n/);
    expect(server.stderr()).not.toMatch(/^ +at .*(node:|dist\/)/m);
    const succeeded = /^\S+ {2}hello +[0-9a-f]{12} {2}✓ succeeded after running /m;
    await until('the success is shown', () => succeeded.test(server.stderr()));
    expect(server.stderr()).toMatch(/^\S+ {2}hello +[0-9a-f]{12} {4}greeting world, attempt 1$/m);
    server.signal('SIGTERM');
    expect((await server.exited).code).toBe(0);
    await rm(join(project, 'jobs/refuse.ts'));
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
    // As an editor saves that writes a new file and renames it.
    for (const words of ['Good night,', 'Good evening,']) {
      const text = (await readFile(file, 'utf8')).replace(/Good \w+,/, words);
      await writeFile(`${file}~`, text);
      await rename(`${file}~`, file);
      await until(`it says ${words}`, async () => {
        const { greeting: said } = (await greeting()) as { greeting: string };
        return said === `${words} world!`;
      });
    }
  });

  it('goes on when a file cannot be loaded, and says which', async () => {
    await writeFile(join(project, 'jobs/broken.ts'), 'export const x = ;');
    await until('it is logged', () => server.stderr().includes('jobs/broken.ts'));
    expect(await greeting()).toEqual({ greeting: 'Good evening, world!' });
    server.signal('SIGTERM');
    expect((await server.exited).code).toBe(0);
  });
});
