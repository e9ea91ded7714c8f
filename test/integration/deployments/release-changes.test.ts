import { expect, it } from 'vitest';
import type { ReleaseChangeView } from '../../../src/core/deployment/release-change.ts';
import { endCanary } from '../../../src/store/deployments/releases.ts';
import { newDeployment, release } from '../../support/deployments.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const app = sharedServer(database);

it('lists what was released, the newest first, to the tenant alone', async () => {
  const { key } = await newKey(database, 'default', 'jobs:read');
  const first = await newDeployment(database, ['mail', 'sync']);
  await release(database, first, ['mail', 'sync']);
  const second = await newDeployment(database, ['mail']);
  await release(database, second, ['mail'], 5);
  const by = { name: 'key:1', address: null };
  await endCanary(database.db, by, 'default', second, 'it throws');
  const listed = async (as: string, query = '') => {
    const { status, body } = await callAs(app, as, 'GET', `/v1/releases/changes${query}`);
    expect(status).toBe(200);
    return body['changes'] as ReleaseChangeView[];
  };
  expect(await listed(key)).toMatchObject([
    {
      action: 'canary-end',
      deployment: second,
      definitions: ['mail'],
      by: 'key:1',
      reason: 'it throws',
    },
    { action: 'canary', deployment: second, definitions: ['mail'], canaryPercent: 5 },
    { action: 'promote', deployment: first, definitions: ['mail', 'sync'], canaryPercent: null },
  ]);
  await newTenant(database, 'acme');
  const other = await newKey(database, 'acme', 'jobs:read');
  expect(await listed(other.key)).toEqual([]);
  expect((await callAs(app, key, 'GET', '/v1/releases/changes?hours=0')).status).toBe(400);
});
