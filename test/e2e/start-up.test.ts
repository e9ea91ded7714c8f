import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/postgres/free-port.ts';
import { jobInState, post, startJob } from '../support/api.ts';
import { emptyDatabase } from '../support/servers/database.ts';
import { query } from '../support/servers/embedded-fixture.ts';
import {
  begin,
  descendants,
  endAll,
  FIXTURES,
  isAlive,
  type Starting,
} from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { until } from '../support/until.ts';

/**
 * The first seconds of a server: its processes are killed while they start and right after. It stays,
 * starts them again, and runs every job that it has acknowledged. It ends by itself only for what a
 * restart cannot fix, and says what that is.
 */

let folder: string;
let env: Record<string, string>;
let address: string;

beforeEach(async () => {
  folder = await quickFolder('longshore-start-up-');
  const port = await findFreePort(20_000 + Math.floor(Math.random() * 10_000));
  address = `http://127.0.0.1:${port}`;
  env = {
    LONGSHORE_PORT: `${port}`,
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_LEASE_MS: '2000',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_CONCURRENCY: '2',
  };
});
afterEach(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const workerOf = ({ pid }: Starting) =>
  descendants(pid).find(({ command }) => command.includes('worker-process'))?.pid;
const postmasterOf = ({ pid }: Starting) =>
  descendants(pid).find(({ parent, command }) => parent === pid && /bin\/postgres/.test(command))
    ?.pid;

/** As soon as there is such a process, it is killed. Answers its id. */
async function killNext(
  server: Starting,
  what: string,
  find: (server: Starting) => number | undefined,
  after?: number,
): Promise<number> {
  const pid = await until(`there is a ${what}`, () => {
    if (!isAlive(server.pid)) throw new Error(`the server ended:\n${server.stderr()}`);
    const found = find(server);
    return found !== after && found;
  });
  process.kill(pid, 'SIGKILL');
  return pid;
}

const isReady = async () =>
  await fetch(`${address}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );

async function becomesReady(server: Starting): Promise<void> {
  await until('the server is ready', async () => {
    if (!isAlive(server.pid)) throw new Error(`the server ended:\n${server.stderr()}`);
    return await isReady();
  });
}

async function runsJobs(server: Starting, ids: readonly string[]): Promise<void> {
  for (const id of ids) await jobInState(address, id, 'succeeded');
  await until('it says that it is up', () => server.summary());
  expect(isAlive(server.pid)).toBe(true);
  expect(server.stderr()).not.toMatch(/unhandled|uncaught/i);
}

const record = async () => await startJob(address, 'record', { file: join(folder, 'evidence') });

describe('a server that has just become ready', () => {
  it.each([
    ['worker process', workerOf],
    ['postmaster', postmasterOf],
  ])('outlives kill -9 of its %s, and runs what it has acknowledged', async (what, find) => {
    const server = begin('start', { env });
    await becomesReady(server);
    const ids = [await record(), await record(), await record()];
    await killNext(server, what, find);
    await runsJobs(server, ids);
  });
});

describe('a server that starts', () => {
  it('outlives kill -9 of its worker process, twice, and says what ended', async () => {
    const server = begin('start', { env });
    const first = await killNext(server, 'worker process', workerOf);
    // The API takes jobs while the worker starts again.
    const early = await until('a job is taken', async () => await record().catch(() => null));
    await killNext(server, 'worker process', workerOf, first);
    await runsJobs(server, [early]);
    expect(server.stderr()).toContain('the worker process exited during start-up (signal SIGKILL)');
  });

  it('outlives kill -9 of its postmaster, in its first life and its second', async () => {
    const server = begin('start', { env });
    const first = await killNext(server, 'postmaster', postmasterOf);
    await killNext(server, 'postmaster', postmasterOf, first);
    await becomesReady(server);
    await runsJobs(server, [await record()]);
  });

  it('outlives kill -9 of its postmaster while its worker starts', async () => {
    const server = begin('start', { env });
    await until('there is a worker', () => workerOf(server));
    const first = await killNext(server, 'postmaster', postmasterOf);
    await killNext(server, 'postmaster', postmasterOf, first);
    await becomesReady(server);
    await runsJobs(server, [await record()]);
  });

  it('is not ready before its worker has registered its definitions', async () => {
    const server = begin('start', { env });
    await until('the API answers', async () => await fetch(`${address}/livez`).catch(() => null));
    const worker = await until('there is a worker', () => workerOf(server));
    process.kill(worker, 'SIGSTOP');
    const answer = await fetch(`${address}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('worker')]);
    expect(server.summary()).toBeNull();
    process.kill(worker, 'SIGCONT');
    await becomesReady(server);
    const paused = await post(`${address}/v1/definitions/record/pause`, {});
    expect(paused.status).toBe(200);
  });
});

describe('a role whose database is not there yet', () => {
  it('waits for it', async () => {
    const database = await emptyDatabase();
    const { hostname, port } = new URL(database.url);
    const limiter = createServer((from) => {
      const to = connect(Number(port), hostname);
      from.on('error', () => to.destroy()).pipe(to);
      to.on('error', () => from.destroy()).pipe(from);
    });
    const limiterPort = await findFreePort(20_000 + Math.floor(Math.random() * 10_000));
    const url = new URL(database.url);
    url.port = `${limiterPort}`;
    const roles = ['api', 'worker', 'scheduler'].map((role) =>
      begin(role, { env: { ...env, DATABASE_URL: url.href } }),
    );
    for (const role of roles) {
      await until('it says that it waits', () => /trying again/.test(role.stderr()));
    }
    limiter.listen(limiterPort, '127.0.0.1');
    for (const role of roles) {
      await until('it is up', () => role.summary());
      role.signal('SIGTERM');
      expect(await role.exited).toEqual({ code: 0, signal: null });
    }
    limiter.close();
    await database.drop();
  });

  it('ends when it is asked to', async () => {
    const server = begin('api', {
      env: { ...env, DATABASE_URL: 'postgres://x:y@127.0.0.1:9/none' },
    });
    await until('it says that it waits', () => /trying again/.test(server.stderr()));
    server.signal('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });
});

describe('what a restart cannot fix ends the server', () => {
  const lastLine = (server: Starting) => server.stderr().trim();

  it('a wrong configuration: exit code 2', async () => {
    const database = await emptyDatabase();
    const url = new URL(database.url);
    url.password = 'wrong';
    const server = begin('api', { env: { ...env, DATABASE_URL: url.href } });
    expect(await server.exited).toEqual({ code: 2, signal: null });
    expect(lastLine(server)).toContain('password authentication failed');
    await database.drop();
  });

  it('definitions that end the process which loads them: exit code 8', async () => {
    const jobs = join(folder, 'jobs');
    await mkdir(jobs);
    await writeFile(join(jobs, 'bad.js'), 'process.exit(3);\n');
    const server = begin('start', { env: { ...env, LONGSHORE_JOBS: jobs } });
    expect(await server.exited).toEqual({ code: 8, signal: null });
    expect(lastLine(server)).toContain(jobs);
    expect(lastLine(server)).toContain('exit code 3');
  });

  it('a migration that is refused: exit code 9', async () => {
    const database = await emptyDatabase();
    await query(
      database.url,
      `create schema longshore;
       create table longshore.migration (number integer primary key, name text not null,
         checksum text not null, breaking boolean not null,
         applied_at timestamptz not null default clock_timestamp());
       insert into longshore.migration values (9000, '9000_future', 'x', true)`,
    );
    const server = begin('api', { env: { ...env, DATABASE_URL: database.url } });
    expect(await server.exited).toEqual({ code: 9, signal: null });
    expect(lastLine(server)).toContain('migrated by a newer Longshore');
    await database.drop();
  });
});
