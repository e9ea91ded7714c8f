import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { defineJob } from '../../../src/core/definition/define.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { deliveryJob } from '../../../src/webhooks/delivery-job.ts';
import { guardedDialer } from '../../../src/webhooks/dialer.ts';
import { Networks } from '../../../src/webhooks/networks.ts';
import { TenantShare } from '../../../src/webhooks/tenant-share.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { newTenant } from '../../support/server-edge.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { newWebhook } from '../../support/webhooks.ts';
import { scheduling, type TestWorker, workerOn } from '../../support/servers/worker.ts';

const database = sharedDatabase();
let worker: TestWorker;
let stopScheduling: () => Promise<void>;

beforeAll(async () => {
  await newTenant(database, 'acme');
  const dialer = guardedDialer(new Networks(['127.0.0.0/8']));
  const share = new TenantShare(2, systemClock);
  const delivery = deliveryJob({ db: database.db, clock: systemClock, dialer, share });
  const jobs = [defineJob({ key: 'echo', isolation: 'inline', run: () => 1 })];
  worker = workerOn(database, { jobs, builtIn: { definitions: [delivery], slots: 4 } });
  await worker.worker.start();
  stopScheduling = await scheduling(database);
});
afterAll(async () => {
  await stopScheduling();
  await worker.stop();
});

it('receivers of one tenant that hang do not hold up the deliveries of another', async () => {
  const hanging = await startReceiver();
  const well = await startReceiver();
  hanging.answerWith(() => undefined);
  onTestFinished(async () => {
    await hanging.close();
    await well.close();
  });
  const events = ['job.succeeded' as const];
  const stuck = await newWebhook(database, { url: hanging.url, events }, 'acme');
  await newWebhook(database, { url: well.url, events });
  for (let n = 0; n < 10; n += 1) {
    await enqueueOne(database, { definitionKey: 'echo', tenant: 'acme' });
  }
  await hanging.have(2);
  await enqueueOne(database, { definitionKey: 'echo' });
  await well.have(1);
  // None of those that hang has ended: the other did not wait for one of them.
  expect(hanging.received).toHaveLength(2);
  const ended = await database.sql(
    `select 1 from longshore.job j join longshore.done d using (shard, id) where j.parent_id = $1`,
    [stuck.id],
  );
  expect(ended).toEqual([]);
});
