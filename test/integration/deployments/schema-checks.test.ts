import { expect, it } from 'vitest';
import type { DifferenceView } from '../../../src/core/deployment/deployment-view.ts';
import { newDeployment, release } from '../../support/deployments.ts';
import { enqueueOne, request } from '../../support/jobs.ts';
import { newSchedule } from '../../support/schedules.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const app = sharedServer(database);

const schemaOf = (type: string) => ({
  type: 'object',
  properties: { n: { type } },
  required: ['n'],
});

async function difference(number: number, query = ''): Promise<DifferenceView> {
  const { key } = await newKey(database, 'default', 'jobs:read');
  const { status, body } = await callAs(app, key, 'GET', `/v1/deployments/${number}/diff${query}`);
  expect(status).toBe(200);
  return body as unknown as DifferenceView;
}

it('says which waiting jobs and schedules a new schema would reject', async () => {
  await newTenant(database, 'acme');
  const first = await newDeployment(database, ['mail'], { paramsSchema: schemaOf('number') });
  await release(database, first, ['mail']);
  const job = { definitionKey: 'mail', skipValidation: true, definitionVersion: 0 };
  const later = { ...job, delayMs: 3_600_000 };
  const bad = await enqueueOne(database, { ...later, paramsJson: '{"n":1}' });
  await enqueueOne(database, { ...later, paramsJson: '{"n":"1"}' });
  const held = await enqueueOne(database, { ...job, hold: true, paramsJson: '{}' });
  // Jobs of other tenants count, and are not named. Queued jobs keep their version.
  await enqueueOne(database, { ...later, tenant: 'acme', paramsJson: '{"n":2}' });
  await enqueueOne(database, { ...job, definitionVersion: first, paramsJson: '{"n":3}' });
  const schedule = await newSchedule(database, { definitionKey: 'mail', paramsJson: '{"n":4}' });

  const second = await newDeployment(database, ['mail'], { paramsSchema: schemaOf('string') });
  expect(await difference(second)).toEqual({
    changes: [{ key: 'mail', change: 'changed', fields: ['params'] }],
    schemaChecks: [
      {
        key: 'mail',
        jobsChecked: 4,
        jobsRejected: 3,
        schedulesChecked: 1,
        schedulesRejected: 1,
        unreadable: 0,
        isPartial: false,
        misfits: [
          { kind: 'job', id: bad, reason: 'params/n: must be string' },
          { kind: 'job', id: held, reason: 'params/n: is required' },
          { kind: 'schedule', id: schedule, reason: 'params/n: must be string' },
        ],
      },
    ],
  });
  const same = await newDeployment(database, ['mail'], { paramsSchema: schemaOf('string') });
  expect(await difference(same, `?against=${second}`)).toMatchObject({ schemaChecks: [] });
});

it('checks a bounded number, and says that there are more', async () => {
  const first = await newDeployment(database, ['many']);
  await release(database, first, ['many']);
  const job = { definitionKey: 'many', skipValidation: true, definitionVersion: 0, hold: true };
  await database.enqueuer.start(
    Array.from({ length: 1_001 }, () => request({ ...job, paramsJson: '{}' })),
  );
  const second = await newDeployment(database, ['many'], { paramsSchema: schemaOf('string') });
  const { schemaChecks } = await difference(second);
  expect(schemaChecks).toMatchObject([
    { jobsChecked: 1_000, jobsRejected: 1_000, isPartial: true, schedulesChecked: 0 },
  ]);
  expect(schemaChecks[0]?.misfits).toHaveLength(5);
});
