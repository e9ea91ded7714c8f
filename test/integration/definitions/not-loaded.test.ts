import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { localWorker } from '../../../src/app/local-worker.ts';
import type { WorkerView } from '../../../src/core/queue/worker.ts';
import { WorkersAnswer } from '../../../src/protocol/answers/worker-answer.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { type Service, startAll, stopAll } from '../../../src/runtime/service.ts';
import { registerRemoteWorker } from '../../../src/store/workers/remote-workers.ts';
import { FIXTURES } from '../../support/processes.ts';
import { newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { QUICK } from '../../support/servers/quick-worker.ts';

/** Files of definitions that a worker could not load, as callers see them. */
const database = sharedDatabase();
const app = sharedServer(database);
let services: Service[] = [];

afterEach(async () => {
  await stopAll(services);
  services = [];
  await database.sql('delete from longshore.worker');
});

async function seenBy(key: string): Promise<WorkerView | undefined> {
  const headers = { host: 'localhost', authorization: `Bearer ${key}` };
  const answer = await app.inject({ url: '/v1/workers', headers });
  expect(answer.statusCode).toBe(200);
  return WorkersAnswer.parse(answer.json()).workers[0];
}

it('are shown with their reasons, but not to other tenants', async () => {
  const { db, waker, url } = database;
  const settings = { ...QUICK, databaseUrl: url, jobs: join(FIXTURES, 'broken') };
  services = localWorker(db, waker, settings, silentLog).services;
  await startAll(services);
  const ours = await newKey(database, 'default', 'jobs:read');
  const theirs = await newKey(database, await newTenant(database, 'other'), 'jobs:read');
  const seen = await seenBy(ours.key);
  expect(seen?.definitions).toContain('good@1');
  expect(seen?.notLoaded).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/throws\.ts: Error: this file throws while it is loaded/),
      expect.stringMatching(/lonely\.js: it imports no-such-package, which is not installed/),
      expect.stringMatching(/odd\.js: it threw a value that is not an Error/),
    ]),
  );
  expect(await seenBy(theirs.key)).toMatchObject({ definitions: seen?.definitions, notLoaded: [] });
});

it('are shown to the tenant of a worker over HTTP, until it has loaded them', async () => {
  const tenant = await newTenant(database, 'remote');
  const { keyId, key } = await newKey(database, tenant, 'jobs:read');
  const facts = { host: 'edge', pid: 1, version: '1', slots: 1, leaseMs: 60_000 };
  const row = { ...facts, instance: randomUUID(), tenant, keyId, address: '127.0.0.1' };
  const notLoaded = ['jobs/bad.ts: Error: no'];
  await registerRemoteWorker(database.db, 0, { ...row, notLoaded });
  expect((await seenBy(key))?.notLoaded).toEqual(notLoaded);
  await registerRemoteWorker(database.db, 0, row);
  expect((await seenBy(key))?.notLoaded).toEqual([]);
});
