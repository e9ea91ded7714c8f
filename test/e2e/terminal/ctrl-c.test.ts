import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jobInState, startJob } from '../../support/api.ts';
import {
  begin,
  BIN,
  descendants,
  endAll,
  FIXTURES,
  isAlive,
  launch,
} from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { until } from '../../support/until.ts';

/** Ctrl-C on a server that runs a job: real processes, and a real terminal made by `script`. */

let folder: string;
let env: Record<string, string>;
let terminal: ChildProcess | undefined;

beforeEach(async () => {
  folder = await quickFolder('longshore-ctrl-c-');
  env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_PORT: '0',
    LONGSHORE_RUNNER_UIDS: 'none',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_DRAIN_MS: '1500',
  };
});
afterEach(async () => {
  terminal?.kill('SIGKILL');
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

/** A job that is running, and ends as soon as it may. */
async function runningJob(address: string) {
  const untilFile = join(folder, 'end');
  const id = await startJob(address, 'record', { file: join(folder, 'evidence'), untilFile });
  await jobInState(address, id, 'running');
  return { id, mayEnd: () => writeFileSync(untilFile, '') };
}

const addressIn = (text: string) => /^ +address +(\S+)\r?$/m.exec(text)?.[1];

describe('Ctrl-C', () => {
  it('drains also where npm passes it on, and the job keeps its attempt', async () => {
    const server = begin('start', { env, plain: true, detached: true });
    const address = await until('it is up', () => addressIn(server.stderr()));
    const everybody = descendants(server.pid).map(({ pid }) => pid);
    const { id, mayEnd } = await runningJob(address);
    const ctrlC = () => process.kill(-server.pid, 'SIGINT');
    ctrlC();
    await until('it drains', () => server.stderr().includes('Draining…'));
    ctrlC();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(everybody.filter(isAlive)).toEqual([]);

    const next = (await launch('start', { env })).summary;
    mayEnd();
    expect(await jobInState(next.address, id, 'succeeded')).toMatchObject({ attempts: 1 });
  });

  it('again, after a while, stops at once; the worker writes nothing over the prompt', async () => {
    // The shell stays, as a person's does.
    const shell = `trap : INT; '${process.execPath}' '${BIN}' start; echo "prompt after $?"`;
    terminal = spawn('script', ['-qefc', `${shell}; while :; do sleep 1; done`, '/dev/null'], {
      env: { PATH: process.env['PATH'], SHELL: '/bin/sh', ...env, LONGSHORE_DRAIN_MS: '5000' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let screen = '';
    terminal.stdout?.setEncoding('utf8').on('data', (text: string) => (screen += text));
    const address = await until('it is up', () => addressIn(screen));
    const all = descendants(terminal.pid ?? 0);
    const server = all.find(({ command }) => command.includes(`${BIN} start`))?.pid ?? 0;
    const worker = all.find(({ command }) => command.includes('worker-process'))?.pid ?? 0;
    await runningJob(address);
    await until('it is back at the prompt', () => {
      if (isAlive(server)) terminal?.stdin?.write('\u0003');
      return screen.includes('prompt after 130\r\n');
    });
    expect(isAlive(worker)).toBe(true);
    await until('its worker has given up', () => !isAlive(worker));
    expect(screen.split('prompt after 130\r\n')[1]).toMatch(/^(\^C)?$/);
  });
});
