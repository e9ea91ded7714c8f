import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Job, Longshore } from '../../../src/client/index.ts';
import { BIN, endAll, FIXTURES, launch, run } from '../../support/processes.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

/** A failed job of a server runs again here, with its own params and steps; the server sees nothing. */

const JOBS = join(FIXTURES, 'replay');
let database: TestDatabase;
let client: Longshore;
let env: Record<string, string>;
let job: Job;

beforeAll(async () => {
  database = await testDatabase();
  const server = await launch('start', {
    env: { DATABASE_URL: database.url, LONGSHORE_JOBS: JOBS },
  });
  env = { LONGSHORE_URL: server.summary.address, RATES: 'many' };
  client = new Longshore({ url: server.summary.address });
  const handle = await client.enqueue('invoice', { order: 20, token: 'abcdef-123456' });
  job = await handle.wait();
});
afterAll(async () => {
  await endAll();
  await database.close();
});

async function replay(...args: string[]) {
  return await run(['replay', job.jobId, '--jobs', JOBS, ...args], { env });
}

it('shows what the steps have stored', async () => {
  expect(job).toMatchObject({ status: 'failed', error: { message: 'no rates' } });
  expect(await client.steps(job.jobId)).toMatchObject({
    steps: [
      { name: 'lines', value: 40 },
      { name: 'total', value: 41 },
    ],
    checkpoint: null,
    complete: true,
  });
});

it('fails here as it did there, with the frames of its own code', async () => {
  const { code, stdout, stderr } = await replay();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('Reused steps: lines, total\n');
  expect(stderr).toContain('warning: some values are [redacted]');
  expect(stderr).toContain('info  reads the total of order 20\n');
  expect(stderr).toMatch(/^It fails here: HANDLER_ERROR no rates\n {4}at .*invoice\.ts:/m);
  expect(await client.get(job.jobId)).toEqual(job);
});

it('runs a step again, with secrets of this machine and revealed params', async () => {
  const { code, stdout, stderr } = await replay(
    '--from-step',
    'total',
    '--secret',
    'RATES',
    '--reveal',
  );
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('Reused steps: lines\n');
  // It is also a variable, as on a worker; what only Longshore needs is not.
  const secrets = { rates: 'many', isSame: true, ofServer: null };
  expect(JSON.parse(stdout)).toEqual({ total: 41, token: 'abcdef-123456', ...secrets });
  expect(await client.get(job.jobId)).toEqual(job);
});

it('gets the outcomes of its parents and children, and starts no job', async () => {
  const parent = await client.enqueue('rate', {});
  const handle = await client.enqueue('sum', { parts: [2, 0] }, { after: [parent.id] });
  const failed = await handle.wait();
  expect(failed).toMatchObject({ status: 'failed', error: { message: 'no rates' } });
  const args = ['--jobs', JOBS, '--secret', 'RATES', '--json'];
  const family = await client.related(handle.id);
  for (const from of [[], ['--from-step', 'first']]) {
    const replayed = await run(['replay', handle.id, ...args, ...from], { env });
    expect(replayed.code, replayed.stderr).toBe(0);
    expect(JSON.parse(replayed.stdout)).toMatchObject({
      result: { first: 2, rate: { rate: 3 }, results: [{ lines: 4 }, 'no lines'] },
      steps: ['first'],
      spawned: [{ name: 'only here', definitionKey: 'part' }],
    });
  }
  const { stderr } = await run(['replay', handle.id, ...args.slice(0, -1)], { env });
  expect(stderr).toContain('Reused steps: first\n');
  expect(stderr).toContain('Its parents: 1 succeeded\n');
  expect(stderr).toMatch(/^Its children: .*1 failed/m);
  expect(stderr).toContain('It would spawn, and nothing is started: only here (part)\n');
  expect((await client.related(handle.id)).childrenTotal).toBe(family.childrenTotal);
  expect(family.childrenTotal).toBe(3);
});

it('refuses steps, definitions and secrets that are not there', async () => {
  expect(await replay('--from-step', 'totl')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      '--from-step: unknown stored step "totl": did you mean "total"?',
    ),
  });
  expect(await replay('--secret', 'NONE')).toMatchObject({ code: 2 });
  const elsewhere = await replay('--jobs', join(FIXTURES, 'jobs'));
  expect(elsewhere.code).toBe(3);
  expect(elsewhere.stderr).toContain('has no definition "invoice"');
});

it('--inspect waits for a debugger before the code is loaded', async () => {
  const args = [BIN, 'replay', job.jobId, '--jobs', JOBS, '--inspect', '0'];
  const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...env } });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await until('it listens', () => stderr.includes('Debugger listening on ws://'));
  expect(stderr).not.toContain('reads the total');
  const [, address = ''] = /(ws:\S+)/.exec(stderr) ?? [];
  const socket = new WebSocket(address);
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.runIfWaitingForDebugger' }));
  await until('it runs', () => stderr.includes('It fails here'));
  socket.close();
  expect(await ended).toBe(1);
});
