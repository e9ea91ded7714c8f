import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
// A dependency of @fastify/swagger, so it is there wherever Longshore is.
import { parseAllDocuments } from 'yaml';
import type { Scope } from '../../../src/core/access/scope.ts';
import { rollUpAll } from '../../../src/store/counters/roll-up.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';

/** What KEDA would ask: the URL, the field and the key of the manifest, at a real server. */

const database = sharedDatabase();
const app = sharedServer(database);

const manifest = readFileSync(
  new URL('../../../deploy/kubernetes/keda.yaml', import.meta.url),
  'utf8',
);
const [scaled] = parseAllDocuments(manifest).map((one) => one.toJS() as ScaledObject);
const [trigger] = scaled?.spec.triggers ?? [];

interface ScaledObject {
  spec: { triggers: { type: string; metadata: Record<string, string> }[] };
}

it('finds the slots that the jobs of all tenants need', async () => {
  const { url = '', valueLocation = '', authMode } = trigger?.metadata ?? {};
  expect({ type: trigger?.type, authMode }).toEqual({ type: 'metrics-api', authMode: 'bearer' });
  const [, scopes = ''] = /longshore keys create --scope (\S+)/.exec(manifest) ?? [];
  const { key } = await newKey(database, 'default', ...(scopes.split(',') as Scope[]));
  const { pathname, search } = new URL(url);
  const wanted = async () => {
    await rollUpAll(database.db);
    const { status, body } = await callAs(app, key, 'GET', `${pathname}${search}`);
    expect(status).toBe(200);
    return body[valueLocation];
  };
  expect(await wanted()).toBe(0);
  await newTenant(database, 'acme');
  await enqueueOne(database, { tenant: 'acme' });
  await enqueueOne(database, { delayMs: 60_000 });
  expect(await wanted()).toBe(1);
});
