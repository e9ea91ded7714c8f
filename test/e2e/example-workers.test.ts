import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JobHandle, Longshore } from '../../src/client/index.ts';
import { isInstalled } from '../support/checks/extras.ts';
import { endAll, launch, run } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { until } from '../support/until.ts';

/** The workers in other languages, at a real server: its only knowledge of them is the protocol. */

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

const LANGUAGES = [
  {
    language: 'Python',
    prefix: 'py',
    installed: isInstalled('python3'),
    command: () => ['/usr/bin/python3', join(EXAMPLES, 'worker-python/jobs.py')],
  },
  {
    language: 'Go',
    prefix: 'go',
    installed: isInstalled('golang-go'),
    command: () => {
      const program = join(folder, 'worker');
      const { status, stderr } = spawnSync('/usr/bin/go', ['build', '-o', program, '.'], {
        cwd: join(EXAMPLES, 'worker-go'),
        env: { PATH: process.env['PATH'], HOME: folder, GOPROXY: 'off', GOFLAGS: '' },
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
      return [program];
    },
  },
];

let database: TestDatabase;
let folder: string;
let client: Longshore;
let env: Record<string, string>;
let worker: ChildProcess | undefined;

beforeAll(async () => {
  database = await testDatabase();
  folder = await quickFolder('longshore-languages-');
  const server = {
    DATABASE_URL: database.url,
    LONGSHORE_JOBS: join(EXAMPLES, 'jobs'),
    LONGSHORE_LEASE_MS: '3000',
    LONGSHORE_POLL_MS: '200',
  };
  const keyWith = async (scope: string) =>
    (await run(['keys', 'create', '--scope', scope, '--quiet'], { env: server })).stdout.trim();
  const apiKey = await keyWith('admin');
  const workerKey = await keyWith('worker');
  const { address } = (await launch('start', { env: server })).summary;
  client = new Longshore({ url: address, apiKey });
  env = { LONGSHORE_URL: address, LONGSHORE_API_KEY: workerKey, PYTHONDONTWRITEBYTECODE: '1' };
});

afterAll(async () => {
  worker?.kill('SIGKILL');
  await endAll();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

/** Its code runs: it has said so. */
async function saysWaiting(job: JobHandle): Promise<void> {
  await until('the job has begun', async () => {
    for await (const { message } of job.logs()) if (message === 'waiting') return true;
    return false;
  });
}

describe.each(LANGUAGES)('a worker in $language', ({ prefix, installed, command }) => {
  it.skipIf(!installed)('runs, fails, stops and drains by the rules of the server', async () => {
    const [program = '', ...args] = command();
    const started = spawn(program, args, { env: { PATH: process.env['PATH'], ...env } });
    worker = started;
    let said = '';
    started.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    started.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = new Promise((done) => started.once('close', (code) => done({ code, said })));

    const sum = await client.enqueue(`${prefix}.sum`, { numbers: [1, 2, 39] });
    const failing = await client.enqueue(
      `${prefix}.fail`,
      {},
      { maxAttempts: 2, retry: { baseMs: 10, maxMs: 10 } },
    );
    expect(await sum.result()).toEqual({ sum: 42 });
    expect(await client.get(sum.id)).toMatchObject({ attempts: 1, progress: { fraction: 1 } });
    await expect(failing.result()).rejects.toThrow('attempt 2 fails');
    expect(await client.get(failing.id)).toMatchObject({ status: 'failed', attempts: 2 });

    if (prefix === 'py') {
      const poem = await client.enqueue('py.poem', {});
      let text = '';
      for await (const chunk of poem.stream()) text += chunk.text;
      expect(text).toBe('The tide is in. ');
    }

    const cancelled = await client.enqueue(`${prefix}.wait`, { seconds: 600 });
    await saysWaiting(cancelled);
    await cancelled.cancel();
    await until('it is cancelled', async () => {
      return (await client.get(cancelled.id))?.status === 'cancelled';
    });

    const last = await client.enqueue(`${prefix}.wait`, { seconds: 1 });
    await saysWaiting(last);
    started.kill('SIGTERM');
    expect(await last.result()).toBe('waited');
    expect(await ended).toEqual({ code: 0, said: expect.not.stringMatching(/Traceback|panic/) });
    const left = (await client.workers()).filter(({ transport }) => transport === 'http');
    expect(left.filter(({ status }) => status !== 'dead')).toEqual([]);
    expect(left.filter(({ lost }) => lost)).toEqual([]);
  });
});
