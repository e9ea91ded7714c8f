import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineJob } from '../../../src/core/definition/define.ts';
import type { WebhookEvent } from '../../../src/core/webhook/webhook.ts';
import { findOrCreateQueue } from '../../../src/store/enqueue/queues.ts';
import { lockQueues } from '../../../src/store/limits/install-limits.ts';
import { stopWebhook } from '../../../src/store/webhooks/webhook-health.ts';
import { changeWebhook, deleteWebhook } from '../../../src/store/webhooks/webhooks.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { HeldLink, statementNamed, untilBlocked } from '../../support/servers/held-link.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { BY, deliveriesOf, newWebhook } from '../../support/webhooks.ts';
import { jobEnded, workerOn } from '../../support/servers/worker.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase({ shards: 2 });
});
afterAll(async () => await database.close());

/** What the queues of a tenant say is told, by their definition. */
const toldIn = async (tenant: string) => {
  const rows = await database.sql<{ key: string; told: string[] | null }>(
    'select key, told::text[] from longshore.queue where tenant = $1 and told is not null',
    [tenant],
  );
  return Object.fromEntries(rows.map(({ key, told }) => [key, told?.toSorted()]));
};

it('a queue knows its subscribed states, whenever webhooks or queues change', async () => {
  const tenant = 'acme';
  const { db } = database;
  for (const definitionKey of ['a', 'b', 'c'])
    await enqueueOne(database, { tenant, definitionKey });
  const events: WebhookEvent[] = ['job.started', 'job.retrying'];
  const one = await newWebhook(database, { events, definitionKeys: ['a', 'new'] }, tenant);
  const two = await newWebhook(database, { events: ['job.finished'] }, tenant);
  const ended = ['cancelled', 'failed', 'succeeded'];
  const all = [...ended, 'retrying', 'running'].toSorted();
  expect(await toldIn(tenant)).toEqual({ a: all, b: ended, c: ended });
  await enqueueOne(database, { tenant, definitionKey: 'new' });
  expect(await toldIn(tenant)).toEqual({ a: all, b: ended, c: ended, new: all });
  await changeWebhook(db, BY, tenant, one.id, { events: ['job.failed'] });
  expect(await toldIn(tenant)).toEqual({ a: ended, b: ended, c: ended, new: ended });
  await changeWebhook(db, BY, tenant, two.id, { status: 'paused' });
  expect(await toldIn(tenant)).toEqual({ a: ['failed'], new: ['failed'] });
  await changeWebhook(db, BY, tenant, two.id, { status: 'active', definitionKeys: ['b'] });
  await stopWebhook(db, one, 'disabled', 'gone');
  expect(await toldIn(tenant)).toEqual({ b: ended });
  await deleteWebhook(db, BY, tenant, two.id);
  expect(await toldIn(tenant)).toEqual({});
});

it('a queue that is made while a webhook is being made knows of it', async () => {
  const link = await HeldLink.begin(database);
  await lockQueues(link);
  const made = findOrCreateQueue(database.db, 1, 'beside', 1, 'late');
  await untilBlocked(database);
  const webhook = '019a0000-0000-7000-8000-000000000001';
  const spec = [webhook, 'late', 'https://example.com', null, ['job.failed'], null, null, 's'];
  await link.run(statementNamed('insert_webhook'), spec);
  await link.commit();
  await made;
  expect(await toldIn('late')).toEqual({ beside: ['failed'] });
});

it('a running worker sends all events after a new subscription', async () => {
  const echo = defineJob({ key: 'echo', isolation: 'inline', run: (params: unknown) => params });
  const worker = workerOn(database, { jobs: [echo] });
  await worker.worker.start();
  try {
    const run = async () => {
      const id = await enqueueOne(database, { definitionKey: 'echo' });
      await jobEnded(database, id);
      return id;
    };
    await run();
    const events: WebhookEvent[] = ['job.started', 'job.succeeded'];
    const webhook = await newWebhook(database, { events, definitionKeys: ['echo'] });
    const ids = [await run(), await run()];
    await until('all is told', async () => (await deliveriesOf(database, webhook)).length === 4);
    const told = await deliveriesOf(database, webhook);
    expect(told.map(({ params }) => params['jobId'])).toEqual(ids.flatMap((id) => [id, id]));
  } finally {
    await worker.stop();
  }
});
