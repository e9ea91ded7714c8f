import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Publishers } from '../../../src/brokers/publishers.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { listDeliveries } from '../../../src/store/webhooks/deliveries.ts';
import { deliveries } from '../../../src/webhooks/deliveries.ts';
import { countStatements } from '../../support/checks/count-statements.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { type Receiver, startReceiver } from '../../support/servers/receiver.ts';
import { type TestWorker, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';
import { newWebhook } from '../../support/webhooks.ts';

/**
 * What a delivery costs the database beside its claim and its settlement. A change that raises a number
 * raises it here and says why.
 */
const database = sharedDatabase();
const DELIVERIES = 20;
const jobs = [defineJob({ key: 'echo', isolation: 'inline', run: (params: unknown) => params })];
let receiver: Receiver;
let webhook: { id: string };
let worker: TestWorker;
let sender: TestWorker | undefined;

beforeAll(async () => {
  receiver = await startReceiver();
  webhook = await newWebhook(database, { url: receiver.url, events: ['job.succeeded'] });
  worker = workerOn(database, { jobs, slots: DELIVERIES });
  await worker.worker.start();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await worker.stop();
  await sender?.stop();
  await receiver.close();
});

const listed = async () => {
  const page = { afterId: null, limit: 2 * DELIVERIES };
  return (await listDeliveries(database.db, 'default', webhook.id, page)).deliveries;
};

/** Once there are so many in this state. */
const have = async (count: number, status: string) =>
  await until(`${count} are ${status}`, async () => {
    const all = (await listed()).filter((one) => one.status === status);
    return all.length === count ? all : null;
  });

it('deliveries at the same time share what they read and store', async () => {
  for (let n = 0; n < DELIVERIES; n += 1) await enqueueOne(database, { definitionKey: 'echo' });
  await have(DELIVERIES, 'pending');
  const { counts } = countStatements();
  const allow = { webhookAllow: '127.0.0.0/8' };
  const builtIn = deliveries(database.db, systemClock, allow, new Publishers());
  sender = workerOn(database, { jobs: [], builtIn });
  await sender.worker.start();
  const delivered = await have(DELIVERIES, 'delivered');
  expect(delivered.map(({ attempts }) => attempts.length)).toEqual(delivered.map(() => 1));
  expect(receiver.received).toHaveLength(DELIVERIES);
  // Each of them had its own, and one more for the answer.
  for (const name of ['find_endpoints', 'view_jobs', 'save_steps']) {
    expect(counts.get(name), name).toBeGreaterThan(0);
    expect(counts.get(name), name).toBeLessThanOrEqual(DELIVERIES / 4);
  }
}, 60_000);

it('one delivery alone is two reads, its event, and no statement for the answer', async () => {
  const { counts } = countStatements();
  await enqueueOne(database, { definitionKey: 'echo' });
  const [first] = await have(DELIVERIES + 1, 'delivered');
  expect(first).toMatchObject({
    request: { type: 'dev.longshore.job.succeeded' },
    attempts: [{ status: 204, error: null }],
  });
  expect(['find_endpoints', 'view_jobs', 'save_steps'].map((name) => counts.get(name))).toEqual([
    1, 1, 1,
  ]);
}, 60_000);
