import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { machineNode } from '../support/machine-node.ts';
import { BIN, endAll, FIXTURES, launch, run, type Running } from '../support/processes.ts';

/** The command line against a real server, as a person or a script uses it. */

let database: TestDatabase;
let server: Running;
let env: Record<string, string>;

beforeAll(async () => {
  database = await testDatabase();
  const settings = { DATABASE_URL: database.url, LONGSHORE_JOBS: join(FIXTURES, 'jobs') };
  server = await launch('api', { env: settings });
  await launch('worker', { env: settings });
  env = { LONGSHORE_URL: server.summary.address };
});
afterAll(async () => {
  await endAll();
  await database.close();
});

describe('exit codes tell scripts what happened', () => {
  it.each([
    ['0 when the awaited job succeeded', ['enqueue', 'echo', '{"a":1}', '--wait'], 0],
    ['1 when the awaited job failed', ['enqueue', 'refuse', '--wait'], 1],
    ['2 for a mistyped flag', ['list', '--statuss', 'failed'], 2],
    ['2 for params that are no JSON', ['enqueue', 'echo', '{a}'], 2],
    ['2 for what the server refuses', ['enqueue', 'echo', '--priority', '9999999'], 2],
    ['3 for a job that is not there', ['show', '01980000-0000-7000-8000-000000000000'], 3],
    ['7 when waiting took too long', ['enqueue', 'unknown', '--wait', '--timeout', '0.2'], 7],
  ])('%s', async (_, args, code) => {
    const finished = await run(args, { env });
    expect(`${finished.code} ${finished.stderr}`).toMatch(new RegExp(`^${code} `));
    expect(finished.stderr).not.toMatch(/^\s+at /m);
  });

  it('5 for a job that has ended already, 6 for a server that is not there', async () => {
    const { stdout } = await run(['enqueue', 'echo', '--wait', '--json'], { env });
    const { jobId } = JSON.parse(stdout) as { jobId: string };
    expect((await run(['cancel', jobId], { env })).code).toBe(5);
    const nowhere = { LONGSHORE_URL: 'http://127.0.0.1:9' };
    expect((await run(['list'], { env: nowhere })).code).toBe(6);
  });
});

describe('data goes to stdout, words go to stderr', () => {
  it('so that an id can be piped onwards', async () => {
    const enqueued = await run(['enqueue', 'echo', '-'], { env, stdin: '{"from":"stdin"}' });
    const id = enqueued.stdout.trim();
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const shown = await run(['show', id, '--json'], { env });
    expect(JSON.parse(shown.stdout)).toMatchObject({ jobId: id, params: { from: 'stdin' } });
    const listed = await run(['list', '--definition', 'echo', '--json'], { env });
    expect(listed.stdout).toContain(id);
  });
});

describe('what a job did', () => {
  it('can be followed to its end, and shown', async () => {
    const { stdout } = await run(['enqueue', 'talk'], { env });
    const id = stdout.trim();
    const followed = await run(['logs', id, '--follow'], { env });
    expect(followed).toMatchObject({ code: 0, stderr: '' });
    const lines = followed.stdout.replaceAll(/^\S+ /gm, '').trim().split('\n');
    // Logger and stdout come by different ways, so only the attempts have an order.
    expect(lines.map((line) => line.slice(0, 2))).toEqual(['#1', '#1', '#2', '#2']);
    expect(lines.sort()).toEqual([
      '#1 info  log from the logger',
      '#1 info  out from stdout \\u001b[31m',
      '#2 info  log from the logger',
      '#2 info  out from stdout \\u001b[31m',
    ]);
    const shown = await run(['show', id], { env });
    expect(shown.stdout).toMatch(/^1 .* HANDLER_ERROR$/m);
    expect(shown.stdout).toMatch(/^2 .* -$/m);
    expect(shown.stdout.trim().split('\n').at(-1)).toMatch(/ #2 {2}succeeded$/);
  });
});

describe('migrate', () => {
  it('says that there was nothing to do', async () => {
    const again = await run(['migrate'], { env: { DATABASE_URL: database.url } });
    expect(again).toMatchObject({ code: 0, stdout: '' });
  });

  it('says in one line that a database cannot be reached', async () => {
    const DATABASE_URL = 'postgres://unknown@127.0.0.1:9/none';
    const refused = await run(['migrate'], { env: { DATABASE_URL } });
    expect(refused.code).toBe(6);
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('a definition that no worker has registered', () => {
  it('is accepted with a warning that has the nearest name, and --wait ends with 3', async () => {
    const stored = await run(['enqueue', 'ecko'], { env });
    expect(stored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
    expect(stored.stderr).toContain('no worker has registered "ecko": did you mean "echo"?');
    const awaited = await run(['enqueue', 'ecko', '--wait'], { env });
    expect(awaited).toMatchObject({ code: 3, stdout: '' });
    const [, id = ''] = /longshore cancel (\S+)\./.exec(awaited.stderr) ?? [];
    expect(await run(['cancel', id], { env })).toMatchObject({ stdout: `${id}  cancelled\n` });
    const version = await run(['enqueue', 'echo', '--definition-version', '7'], { env });
    expect(version.stderr).toContain(
      'no worker has registered version 7 of "echo": registered are',
    );
  });
});

describe('keys', () => {
  it('are listed by the server that is named, and no cluster is made in a folder that the user did not name', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'longshore-keys-'));
    try {
      const listed = await run(['keys', '--url', server.summary.address], { cwd });
      expect(listed).toMatchObject({ code: 0, stderr: 'No keys.\n' });
      for (const asked of [['list'], ['create', '--scope', 'admin']]) {
        const nowhere = await run(['keys', ...asked], { cwd });
        expect(nowhere).toMatchObject({ code: 2, stdout: '' });
        expect(nowhere.stderr).toMatch(/^error: there is no database in .*--url or LONGSHORE_URL/);
      }
      expect(await readdir(cwd)).toEqual([]);
    } finally {
      await rm(cwd, { recursive: true });
    }
  });
});

describe('the Node of this machine', () => {
  it('runs a checkout, also when it is an old one', () => {
    const output = execFileSync(machineNode(), [BIN, '--version'], { encoding: 'utf8' });
    expect(output).toMatch(/^\d+\.\d+/);
  });
});

describe('looking at a server as a whole', () => {
  it('top prints one look where there is no terminal, without colours', async () => {
    const { code, stdout } = await run(['top'], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1 worker   0 of 8 slots busy/);
    expect(stdout).not.toContain('\u001b');
    const json = await run(['top', '--json'], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({
      workers: [{ slots: 8 }],
      running: [],
      totals: { succeeded: expect.any(Number) },
    });
  });

  it('top counts all jobs, however many wait', async () => {
    const client = new Longshore({ url: server.summary.address });
    const held = { definition: 'held', options: { hold: true } };
    await client.enqueueMany(Array.from({ length: 450 }, () => held));
    // The counters are a second or two behind.
    await expect
      .poll(async () => (await run(['top'], { env })).stdout, { timeout: 60_000 })
      .toMatch(/^held +450 +0 +0 /m);
  });

  it('bench runs real jobs and tells how long they took', async () => {
    const args = ['bench', 'echo', '{"a":1}', '--jobs', '30', '--callers', '4', '--json'];
    const { code, stdout } = await run(args, { env });
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { ended: number; runMs: { p50: number } };
    expect(report).toMatchObject({ jobs: 30, callers: 4, ended: 30, succeeded: 30 });
    expect(report.runMs.p50).toBeGreaterThanOrEqual(0);
    const mistyped = await run(['bench', 'ecko'], { env });
    expect(mistyped).toMatchObject({ code: 2, stderr: expect.stringContaining('"echo"') });
  });
});
