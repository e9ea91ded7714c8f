import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { blocksOf, commandsIn } from '../support/checks/docs-blocks.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { BIN, endAll, FIXTURES, launch, run } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { until } from '../support/until.ts';

/** A worker on "another machine": a network namespace whose only neighbour is the API. */
const NAME = `longshore-${process.pid}`;
const CABLE = [`ls${process.pid}a`.slice(-14), `ls${process.pid}b`.slice(-14)] as const;
const HERE = '10.213.77.1';
const THERE = '10.213.77.2';
const canIsolate = process.getuid?.() === 0 && canConnect();

function ip(...args: string[]): number {
  return spawnSync('ip', args, { stdio: 'ignore' }).status ?? 1;
}

/** Makes the other machine, and a cable to it. */
function connect(): boolean {
  return (
    ip('netns', 'add', NAME) === 0 &&
    ip('link', 'add', CABLE[0], 'type', 'veth', 'peer', 'name', CABLE[1], 'netns', NAME) === 0 &&
    ip('addr', 'add', `${HERE}/30`, 'dev', CABLE[0]) === 0 &&
    ip('link', 'set', CABLE[0], 'up') === 0 &&
    ip('-n', NAME, 'addr', 'add', `${THERE}/30`, 'dev', CABLE[1]) === 0 &&
    ip('-n', NAME, 'link', 'set', CABLE[1], 'up') === 0
  );
}

function canConnect(): boolean {
  const connected = connect();
  leave();
  return connected;
}

function leave(): boolean {
  return ip('netns', 'del', NAME) === 0;
}

let folder: string;
let database: TestDatabase;
let worker: ChildProcess | undefined;
const output: string[] = [];

describe.skipIf(!canIsolate)('longshore worker --url (needs root and ip)', () => {
  beforeEach(async () => {
    folder = await quickFolder('longshore-remote-');
    await chmod(folder, 0o777); // Jobs run as another user and write here.
    database = await testDatabase();
    // The cable of an earlier namespace goes a moment after it.
    await until('the other machine is connected', () => connect() || (leave(), false));
  });

  afterEach(async () => {
    worker?.kill('SIGKILL');
    await endAll();
    leave();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs Node on the other machine. */
  const there = (args: readonly string[], env: Record<string, string> = {}) =>
    spawn('ip', ['netns', 'exec', NAME, process.execPath, ...args], {
      env: { PATH: process.env['PATH'], ...env },
      cwd: folder,
    });

  it('runs the jobs of a tenant without any way to the database, by the commands of the docs', async () => {
    const env = {
      DATABASE_URL: database.url,
      LONGSHORE_HOST: '0.0.0.0',
      LONGSHORE_LEASE_MS: '3000',
    };
    const admin = await run(['keys', 'create', '--scope', 'admin', '--quiet'], { env });
    const key = admin.stdout.trim();
    const { address } = (await launch('api', { env })).summary;
    await launch('scheduler', { env });
    const port = new URL(address).port;
    const server = new Longshore({ url: `http://127.0.0.1:${port}`, apiKey: key });
    await server.tenants.create('acme');
    const [plain, start, , create] = blocksOf('docs/operate/remote-workers.md', 'sh').flatMap(
      commandsIn,
    );
    const made = await run(create?.args.map((word) => word.replace('report', 'echo')) ?? [], {
      env,
    });
    expect(made.code).toBe(0);

    const reach = there(['-e', `require('net').connect(${new URL(database.url).port}, '${HERE}')`]);
    expect(await new Promise((done) => reach.once('exit', done))).toBe(1);

    const words = start?.args.map((word) =>
      word
        .replace('https://jobs.example.com', `http://${HERE}:${port}`)
        .replace('./jobs', join(FIXTURES, 'jobs')),
    );
    const apiKey = made.stdout.trim().split('\n')[0] ?? '';
    const client = new Longshore({ url: `http://127.0.0.1:${port}`, apiKey: key, tenant: 'acme' });
    // Its key is for echo*, and the folder has more definitions: it says so and ends.
    const refused = there([BIN, ...(words ?? [])], { LONGSHORE_API_KEY: apiKey });
    let said = '';
    refused.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    expect(await new Promise((done) => refused.once('exit', done))).not.toBe(0);
    expect(said).toContain('the key may not serve');

    const wide = await run([...(plain?.args ?? []), '--tenant', 'acme'], { env });
    worker = there([BIN, ...(words ?? [])], {
      LONGSHORE_API_KEY: wide.stdout.trim().split('\n')[0] ?? '',
      LONGSHORE_LEASE_MS: '3000',
    });
    worker.stderr?.setEncoding('utf8').on('data', (text: string) => output.push(text));
    const handle = await client.enqueue('echo', { from: 'far away' });
    expect(await handle.result()).toEqual({ from: 'far away' });
    const seen = await until('it is listed', async () =>
      (await server.workers()).find(({ transport }) => transport === 'http'),
    );
    expect(seen).toMatchObject({ tenant: 'acme', address: THERE, status: 'active' });

    // It is killed in the middle of a job: another one takes the job over.
    const file = join(folder, 'evidence');
    const held = await client.enqueue('record', { file, holdMs: 60_000 });
    await until('it runs', () => existsSync(file));
    worker.kill('SIGKILL');
    const lost = await until('the server has noticed', async () => {
      const job = await client.get(held.id);
      return job?.status === 'queued' ? job : null;
    });
    expect(lost.attempts).toBe(1);
  });
});
