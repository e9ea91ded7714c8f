import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
// A dependency of @fastify/swagger, so it is there wherever Longshore is.
import { parseAllDocuments, parseDocument } from 'yaml';
import type { Scope } from '../../../src/core/access/scope.ts';
import { Longshore } from '../../../src/client/index.ts';
import { rollUpAll } from '../../../src/store/counters/roll-up.ts';
import { endAll, launch, run } from '../../support/processes.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';

/** What KEDA would ask: the URL, the field and the key of the manifest, at a real server. */

const database = sharedDatabase();
const app = sharedServer(database);
afterAll(endAll);

const manifest = readFileSync(
  new URL('../../../deploy/kubernetes/keda.yaml', import.meta.url),
  'utf8',
);
const [scaled] = parseAllDocuments(manifest).map((one) => one.toJS() as ScaledObject);
const [trigger] = scaled?.spec.triggers ?? [];

interface Compose {
  services: Record<string, { command: string[]; environment: Record<string, string> }>;
}

interface ScaledObject {
  spec: { triggers: { type: string; metadata: Record<string, string> }[] };
}

it('the first key of compose is made by the command that its header names', async () => {
  const compose = readFileSync(new URL('../../../deploy/compose.yaml', import.meta.url), 'utf8');
  const page = readFileSync(new URL('../../../docs/operate/deploying.md', import.meta.url), 'utf8');
  const [command = '', words = ''] =
    /docker compose run --build --rm api (keys create[^#\n]*?) *#/.exec(compose) ?? [];
  expect(page).toContain(command.replace(/ *#$/, ''));
  const { services } = parseDocument(compose, { merge: true }).toJS() as Compose;
  const { environment = {}, command: role = [] } = services['api'] ?? {};
  const env = { ...environment, DATABASE_URL: database.url, LONGSHORE_PORT: '0' };
  const made = await run(words.split(' '), { env });
  expect([made.code, made.stderr]).toEqual([0, expect.any(String)]);
  const { summary } = await launch(role[0] ?? '', { env });
  const apiKey = made.stdout.trim();
  const url = summary.address.replace('0.0.0.0', '127.0.0.1');
  expect((await new Longshore({ url, apiKey }).caller()).scopes).toContain('admin');
});

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
