import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { localApi } from '../../../src/app/local-api.ts';
import { configOf } from '../../../src/config/options.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { startAll, stopAll } from '../../../src/runtime/service.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { newKey } from '../../support/server-edge.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

const database = databasePerTest();
const CONNECTIONS = 2;

/** An API as `longshore api` composes it, with few connections. */
async function api() {
  const { url, waker } = database;
  const db = Db.open({ clock: systemClock, url, log: silentLog, max: CONNECTIONS });
  const config = { ...configOf({ databaseUrl: url, port: 0 }, []), databaseUrl: url };
  const { http, services } = localApi(db, waker, config, silentLog);
  await startAll(services);
  onTestFinished(async () => {
    await stopAll(services);
    await db.close();
  });
  return { db, address: http.address ?? '' };
}

/** Holds every connection of ordinary requests until the test has ended. */
async function occupy(db: Db): Promise<void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = 0;
  const hold = async () =>
    await db.transaction(async () => {
      held += 1;
      await released;
    });
  const all = Promise.all(Array.from({ length: CONNECTIONS }, hold));
  onTestFinished(async () => {
    release();
    await all;
  });
  await until('all connections are held', () => held === CONNECTIONS);
}

it.each([
  ['with a key', true],
  ['of a server without keys', false],
])('a remote worker %s renews its lease while all other connections are busy', async (_, keyed) => {
  const key = keyed ? (await newKey(database, 'default', 'worker')).key : null;
  const headers = {
    'content-type': 'application/json',
    ...(key !== null && { authorization: `Bearer ${key}` }),
  };
  const path = `/v1/workers/${randomUUID()}`;
  const { address } = await api();
  const facts = { host: 'edge', definitions: [{ key: 'hello' }] };
  await fetch(address + path, { method: 'PUT', headers, body: JSON.stringify(facts) });
  // Another server gets the heartbeat. It knows neither the key nor the worker.
  const other = await api();
  await occupy(other.db);
  const beat = { method: 'POST', headers, body: '{"holding":[]}' };
  expect((await fetch(`${other.address}${path}/beat`, beat)).status).toBe(200);
  // A worker that lost its lease comes back with a new id.
  const back = { method: 'PUT', headers, body: JSON.stringify(facts) };
  const again = `${other.address}/v1/workers/${randomUUID()}`;
  expect((await fetch(again, back)).status).toBe(200);
  const { authorization } = headers;
  const left = { method: 'DELETE', ...(authorization && { headers: { authorization } }) };
  expect((await fetch(`${other.address}${path}`, left)).status).toBe(204);
});
