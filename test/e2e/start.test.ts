import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobInState, readJob, startJob } from '../support/api.ts';
import {
  descendants,
  endAll,
  FIXTURES,
  isAlive,
  killAll,
  launch,
  run,
  type Running,
} from '../support/processes.ts';
import { until } from '../support/until.ts';

/**
 * `longshore start` as a newcomer runs it: an empty folder, no database, one command. What happens to
 * it then happens to one and the same server, one thing after another, and it goes on after each.
 */

let folder: string;
let env: Record<string, string>;
let server: Running;
let address: string;

const startServer = async () => {
  server = await launch('start', { env });
  ({ address } = server.summary);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-start-'));
  env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_LEASE_MS: '2000',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_CONCURRENCY: '3',
  };
  await startServer();
});
afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

const workerOf = (pid: number) =>
  descendants(pid).find(({ command }) => command.includes('worker-process'));
const postmasterOf = (pid: number) =>
  descendants(pid).find(({ parent, command }) => parent === pid && /bin\/postgres/.test(command));

describe('longshore start', () => {
  it('runs a job in its own process on its own PostgreSQL, and ends calmly', async () => {
    const file = join(folder, 'evidence');
    const id = await startJob(address, 'record', { file });
    const job = await jobInState(address, id, 'succeeded');
    const { pid } = job.result as { pid: number };
    expect(descendants(server.pid).map((info) => info.pid)).toContain(pid);
    expect(pid).not.toBe(server.pid);
    const everybody = descendants(server.pid).map((info) => info.pid);
    server.signal('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(everybody.filter(isAlive)).toEqual([]);

    await startServer();
    expect(await readJob(address, id)).toMatchObject({ status: 'succeeded' });
  });

  it('starts a killed worker again, and its job runs again', async () => {
    const untilFile = join(folder, 'end');
    const params = { file: join(folder, 'evidence'), untilFile };
    const id = await startJob(address, 'record', params);
    await jobInState(address, id, 'running');
    const worker = workerOf(server.pid);
    const runners = descendants(worker?.pid ?? 0).map((info) => info.pid);
    process.kill(worker?.pid ?? 0, 'SIGKILL');
    writeFileSync(untilFile, '');
    const job = await jobInState(address, id, 'succeeded');
    expect(job.attempts).toBe(2);
    expect(workerOf(server.pid)?.pid).not.toBe(worker?.pid);
    await until('the runners of the killed worker are gone', () => !runners.some(isAlive));
  });

  it('starts a killed postmaster again, and nothing acknowledged is lost', async () => {
    const params = { file: join(folder, 'evidence') };
    const before = await startJob(address, 'record', params, { delayMs: 1_000 });
    process.kill(postmasterOf(server.pid)?.pid ?? 0, 'SIGKILL');
    const after = await until('the API takes jobs again', async () =>
      startJob(address, 'record', params).catch(() => null),
    );
    await jobInState(address, before, 'succeeded');
    await jobInState(address, after, 'succeeded');
    expect(server.stderr()).not.toMatch(/unhandled|uncaught/i);
  });

  it('keeps every acknowledged job and every result over kill -9 of everything', async () => {
    const params = { file: join(folder, 'evidence'), holdMs: 300 };
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      ids.push(await startJob(address, 'record', params));
    }
    const settled = await jobInState(address, ids[0] ?? '', 'succeeded');
    const everybody = [server.pid, ...descendants(server.pid).map((info) => info.pid)];
    killAll(everybody);
    await server.exited;

    await startServer();
    for (const id of ids) await jobInState(address, id, 'succeeded');
    expect(await readJob(address, settled.jobId)).toMatchObject({
      attempts: settled.attempts,
      result: settled.result,
      finishedAt: settled.finishedAt,
    });
  });

  it('refuses a second start on its folder with one clear line', async () => {
    const second = await run(['start'], { env: { ...env, LONGSHORE_PORT: '0' } });
    expect(second.code).not.toBe(0);
    const lines = second.stderr
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('{'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(env['LONGSHORE_DATA']);
    await startJob(address, 'echo');
  });
});
