import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { jobInState, readJob, startJob } from '../support/api.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import {
  descendants,
  endAll,
  FIXTURES,
  isAlive,
  launch,
  type Running,
} from '../support/processes.ts';
import { until } from '../support/until.ts';

/** A worker that cannot act any more must not leave its jobs running beside their next attempt. */

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'longshore-frozen-'));
  env = {
    DATABASE_URL: database.url,
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_CONCURRENCY: '2',
    LONGSHORE_LEASE_MS: '1500',
    LONGSHORE_POLL_MS: '100',
    LONGSHORE_DRAIN_MS: '100',
  };
});
afterEach(async () => await endAll());
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const runnersOf = (worker: Running) =>
  descendants(worker.pid)
    .filter(({ command }) => command.includes('runner/main'))
    .map(({ pid }) => pid);

const startsIn = (file: string) =>
  existsSync(file) ? (readFileSync(file, 'utf8').match(/^start .*$/gm) ?? []) : [];

describe('a worker that is frozen beyond its lease', () => {
  it('has its runner killed before the job starts again, and its late outcome is refused', async () => {
    const server = await launch('api', { env });
    const first = await launch('worker', { env });
    const file = join(folder, 'frozen');
    const { address } = server.summary;
    const id = await startJob(address, 'record', { file, holdMs: 20_000 });
    await until('it has started', () => startsIn(file).length === 1);
    const runners = runnersOf(first);
    expect(runners.length).toBeGreaterThan(0);
    first.signal('SIGSTOP');
    const second = await launch('worker', { env });
    await until('it has started again', () => {
      if (startsIn(file).length < 2) return false;
      // At the very moment of the second start the processes of the first are gone.
      expect(runners.filter(isAlive)).toEqual([]);
      return true;
    });
    first.signal('SIGCONT');
    await until('the frozen worker knows', () => first.stderr().includes('fenced'));
    expect(await readJob(address, id)).toMatchObject({ status: 'running', attempts: 2 });
    second.signal('SIGTERM');
    first.signal('SIGTERM');
  });
});

describe('a worker that is killed', () => {
  it('takes a job with it that never yields', async () => {
    const server = await launch('api', { env });
    const worker = await launch('worker', { env });
    const id = await startJob(server.summary.address, 'busy-loop');
    await jobInState(server.summary.address, id, 'running');
    const everybody = descendants(worker.pid).map(({ pid }) => pid);
    expect(everybody.length).toBeGreaterThan(1);
    worker.signal('SIGKILL');
    await until('its runners and its watchdog are gone', () => !everybody.some(isAlive));
  });
});
