import { expect, it } from 'vitest';
import type { DeploymentDetail } from '../../../src/core/deployment/deployment-view.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { routeLeftJobs } from '../../../src/store/claim/route-jobs.ts';
import { rollUpAll } from '../../../src/store/counters/roll-up.ts';
import { expectTrueCounters } from '../../support/checks/counters.ts';
import { newDeployment, release } from '../../support/deployments.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const app = sharedServer(database);

/** Runs one attempt of everything that is queued. */
async function runAll(outcome = SUCCESS): Promise<void> {
  const jobs = await claimAny(database, await newWorker(database), 100);
  for (const job of jobs) await settleAs(database, job, outcome);
}

async function jobsOf(number: number, key: string): Promise<DeploymentDetail['jobs']> {
  await rollUpAll(database.db);
  const { status, body } = await callAs(app, key, 'GET', `/v1/deployments/${number}`);
  expect(status).toBe(200);
  return body['jobs'] as DeploymentDetail['jobs'];
}

it('says how the jobs of a deployment do, and those of the version before', async () => {
  const { key } = await newKey(database, 'default', 'jobs:read');
  await newTenant(database, 'acme');
  const mail = { definitionKey: 'mail', skipValidation: true };
  const first = await newDeployment(database, ['mail', 'sync']);
  await release(database, first, ['mail', 'sync']);
  for (let n = 0; n < 20; n += 1) await enqueueOne(database, { ...mail, definitionVersion: first });
  await runAll();
  const second = await newDeployment(database, ['mail']);
  await release(database, second, ['mail']);
  const bad = { ...mail, definitionVersion: second, maxAttempts: 1 };
  // Definitions of the default tenant run for all tenants.
  for (let n = 0; n < 9; n += 1) await enqueueOne(database, { ...bad, tenant: 'acme' });
  await enqueueOne(database, { ...bad, maxAttempts: 2 });
  await runAll(failure('USER_ERROR'));
  await enqueueOne(database, bad);
  await claimAny(database, await newWorker(database), 100);
  await enqueueOne(database, { ...bad, delayMs: 3_600_000 });

  const none = { waiting: 0, running: 0, succeeded: 0, failed: 0, attempts: 0, failedAttempts: 0 };
  const before = { ...none, version: first, succeeded: 20, attempts: 20, failureRate: 0 };
  expect(await jobsOf(second, key)).toEqual([
    {
      key: 'mail',
      now: {
        version: second,
        waiting: 2,
        running: 1,
        succeeded: 0,
        failed: 9,
        attempts: 10,
        failedAttempts: 10,
        failureRate: 1,
      },
      before,
      worse: '10 of 10 attempts failed, of the version before 0 of 20',
    },
  ]);
  expect(await jobsOf(first, key)).toEqual([
    { key: 'mail', now: before, before: null, worse: null },
    {
      key: 'sync',
      now: { ...none, version: first, failureRate: null },
      before: null,
      worse: null,
    },
  ]);
});

it('counts a job that got another version with the new one only', async () => {
  const { key } = await newKey(database, 'default', 'jobs:read');
  const talk = { definitionKey: 'talk', skipValidation: true };
  const first = await newDeployment(database, ['talk']);
  await release(database, first, ['talk']);
  const id = await enqueueOne(database, { ...talk, definitionVersion: first, maxAttempts: 1 });
  const held = await enqueueOne(database, { ...talk, hold: true, definitionVersion: 0 });
  await runAll(failure('USER_ERROR'));
  const second = await newDeployment(database, ['talk']);
  await release(database, second, ['talk']);
  const again = { mode: 'now', runAt: null, paramsJson: null, version: 'current' } as const;
  expect(await retryJob(database.db, 'default', id, again)).toMatchObject({ kind: 'changed' });
  await releaseJob(database.db, 'default', held, null);
  await routeLeftJobs(database.db, 0);
  await expectTrueCounters(database);
  expect((await jobsOf(second, key))[0]).toMatchObject({
    now: { waiting: 2, succeeded: 0, failed: 0, attempts: 0 },
    before: { version: first, waiting: 0, failed: 1, attempts: 1, failedAttempts: 1 },
  });
  await runAll();
  await expectTrueCounters(database);
  expect((await jobsOf(second, key))[0]?.now).toMatchObject({ waiting: 0, succeeded: 2 });
});
