import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { listWorkers } from '../../../src/store/workers/list-workers.ts';
import { noteWorkerEnd, registerWorker, retireWorker } from '../../../src/store/workers/workers.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

/** How the process of a worker ended, as its parent says. */
const database = sharedDatabase();

async function register(host: string, pid: number): Promise<string> {
  const instance = randomUUID();
  const facts = { instance, host, pid, version: '0', slots: 1, leaseMs: 60_000 };
  await registerWorker(database.db, 0, facts);
  return instance;
}

const note = async (host: string, pid: number, endedBy = 'SIGKILL') =>
  await noteWorkerEnd(database.db, 0, { host, pid, endedBy });

async function stateOf(workerId: string) {
  const found = (await listWorkers(database.db, null)).find((one) => one.workerId === workerId);
  return found && [found.status, found.lost, found.endedBy];
}

it('is stored once, and the worker counts as lost at once', async () => {
  const [killed, other] = [await register('a', 1), await register('a', 2)];
  await note('a', 1);
  await note('a', 1, 'exit code 1');
  await note('b', 2);
  expect(await stateOf(killed)).toEqual(['dead', true, 'SIGKILL']);
  expect(await stateOf(other)).toEqual(['active', false, null]);
});

it('belongs to the newest worker with this pid', async () => {
  const [old, killed] = [await register('c', 1), await register('c', 1)];
  await note('c', 1);
  expect(await stateOf(old)).toEqual(['active', false, null]);
  expect(await stateOf(killed)).toEqual(['dead', true, 'SIGKILL']);
});

it('is not stored for a worker that signed off, or one over HTTP', async () => {
  const [stopped, remote] = [await register('d', 1), await register('d', 2)];
  await retireWorker(database.db, 0, stopped);
  await database.sql(`update longshore.worker set tenant = 'default' where instance = $1`, [
    remote,
  ]);
  await note('d', 1, 'exit code 1');
  await note('d', 2);
  expect(await stateOf(stopped)).toEqual(['dead', false, null]);
  expect(await stateOf(remote)).toEqual(['active', false, null]);
});
