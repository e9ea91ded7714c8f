import { expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { newDeployment, release } from '../../support/deployments.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { callAs, newKey, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const app = sharedServer(database);

async function deploy(): Promise<number> {
  const number = await newDeployment(database, ['talk']);
  await release(database, number, ['talk']);
  return number;
}

async function attempt(outcome = failure('USER_ERROR')): Promise<void> {
  const [job] = await claimAny(database, await newWorker(database), 1);
  if (!job) throw new Error('nothing is queued');
  await settleAs(database, job, outcome);
}

it('says of each attempt which version it ran, also after a retry with current code', async () => {
  const { db } = database;
  const { key } = await newKey(database, 'default', 'jobs:read');
  const retry = async (id: string, version: 'same' | 'current') => {
    const asked = { mode: 'now', runAt: null, paramsJson: null, version } as const;
    expect(await retryJob(db, 'default', id, asked)).toMatchObject({ kind: 'changed' });
  };
  const versions = async (id: string) => {
    const { body } = await callAs(app, key, 'GET', `/v1/jobs/${id}/attempts`);
    const attempts = body['attempts'] as { number: number; definitionVersion: number }[];
    return attempts.map(({ number, definitionVersion }) => [number, definitionVersion]);
  };
  const first = await deploy();
  const job = { definitionKey: 'talk', definitionVersion: first, skipValidation: true };
  const id = await enqueueOne(database, { ...job, maxAttempts: 1 });
  await attempt();
  expect(await versions(id)).toEqual([[1, first]]);
  const second = await deploy();
  await retry(id, 'same');
  await attempt();
  await retry(id, 'current');
  await attempt();
  // A retry that changes nothing, and one of a job that never ran with its version.
  await retry(id, 'current');
  await attempt();
  const third = await deploy();
  await retry(id, 'current');
  await cancelJob(db, 'default', id);
  const fourth = await deploy();
  await retry(id, 'current');
  await attempt(SUCCESS);
  expect(await versions(id)).toEqual([
    [1, first],
    [2, first],
    [3, second],
    [4, second],
    [5, fourth],
  ]);
  const { body } = await callAs(app, key, 'GET', `/v1/jobs/${id}/events`);
  const payloads = (body['events'] as { payload: { versionBefore?: number } | null }[]).flatMap(
    ({ payload }) => payload?.versionBefore ?? [],
  );
  expect(payloads).toEqual([first, second, third]);
});
