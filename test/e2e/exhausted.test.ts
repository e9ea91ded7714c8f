import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { jobInState, startJob } from '../support/api.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { descendants, endAll, FIXTURES, isAlive, killAll, launch } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** A worker that may open nothing more, neither files nor pipes, as on a machine that is used up. */

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'longshore-exhausted-'));
});
afterEach(async () => await endAll());
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const prlimit = (pid: number, ...args: string[]) =>
  execFileSync('prlimit', ['--pid', `${pid}`, ...args]).toString();

/** Takes what the process has open now for its limit; answers with a way back. */
function exhaust(pid: number): () => void {
  const limit = prlimit(pid, '--nofile', '-o', 'SOFT', '--noheadings').trim();
  prlimit(pid, `--nofile=${readdirSync(`/proc/${pid}/fd`).length}:`);
  return () => void prlimit(pid, `--nofile=${limit}:`);
}

const below = (pid: number, command: string) =>
  descendants(pid).filter((one) => one.command.includes(command));

it('lives on, gives its jobs back, and recovers', async () => {
  const env = {
    DATABASE_URL: database.url,
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_CONCURRENCY: '4',
    LONGSHORE_POLL_MS: '200',
  };
  const server = await launch('api', { env });
  const worker = await launch('worker', { env });
  const { address } = server.summary;
  await jobInState(address, await startJob(address, 'echo'), 'succeeded');
  const recover = exhaust(worker.pid);
  killAll(below(worker.pid, 'watchdog/main').map(({ pid }) => pid));
  const params = { file: join(folder, 'evidence'), holdMs: 300 };
  const ids = await Promise.all(
    Array.from({ length: 8 }, async () => await startJob(address, 'record', params)),
  );
  await until('it has noticed', () => {
    const said = worker.stderr();
    return said.includes('could not be started here') && said.includes('cannot start the watchdog');
  });
  expect(isAlive(worker.pid)).toBe(true);
  recover();
  for (const id of ids) {
    expect(await jobInState(address, id, 'succeeded')).toMatchObject({ attempts: 1 });
  }
  await until('it has a watchdog', () => below(worker.pid, 'watchdog/main').length === 1);
});

it('stores what a job did although no next process can be started', async () => {
  const env = { DATABASE_URL: database.url, LONGSHORE_JOBS: join(FIXTURES, 'fresh') };
  const server = await launch('api', { env });
  const worker = await launch('worker', { env });
  const { address } = server.summary;
  const begun = join(folder, 'begun');
  const go = join(folder, 'go');
  const id = await startJob(address, 'fresh-wait', { begun, go });
  await until('it has begun', () => existsSync(begun));
  const pid = Number(readFileSync(begun, 'utf8'));
  const spares = () => below(worker.pid, 'runner/main').filter((one) => one.pid !== pid);
  await until('a spare process is there', () => spares().length > 0);
  const recover = exhaust(worker.pid);
  killAll(spares().map(({ pid }) => pid));
  await until('it has noticed', () => worker.stderr().includes('cannot start a spare runner'));
  await writeFile(go, '');
  expect(await jobInState(address, id, 'succeeded')).toMatchObject({ attempts: 1 });
  expect(readFileSync(begun, 'utf8')).toBe(`${pid}\n`);
  recover();
  await jobInState(address, await startJob(address, 'fresh-pid'), 'succeeded');
});
