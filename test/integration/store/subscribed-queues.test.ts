import { expect, it } from 'vitest';
import { defineJob } from '../../../src/core/definition/define.ts';
import type { WebhookEvent } from '../../../src/core/webhook/webhook.ts';
import { findOrCreateQueue } from '../../../src/store/enqueue/queues.ts';
import { lockQueues } from '../../../src/store/limits/install-limits.ts';
import { stopWebhook } from '../../../src/store/webhooks/webhook-health.ts';
import { changeWebhook, deleteWebhook } from '../../../src/store/webhooks/webhooks.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, statementNamed, untilBlocked } from '../../support/servers/held-link.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { BY, deliveriesOf, newWebhook } from '../../support/webhooks.ts';
import { jobEnded, workerOn } from '../../support/servers/worker.ts';

const database = sharedDatabase({ shards: 2 });

/** The subscribed states of a tenant's queues, by definition. */
const subscribedIn = async (tenant: string) => {
  const rows = await database.sql<{ key: string; subscribed_states: string[] | null }>(
    'select key, subscribed_states::text[] from longshore.queue where tenant = $1 and subscribed_states is not null',
    [tenant],
  );
  return Object.fromEntries(
    rows.map(({ key, subscribed_states }) => [key, subscribed_states?.toSorted()]),
  );
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
  expect(await subscribedIn(tenant)).toEqual({ a: all, b: ended, c: ended });
  await enqueueOne(database, { tenant, definitionKey: 'new' });
  expect(await subscribedIn(tenant)).toEqual({ a: all, b: ended, c: ended, new: all });
  await changeWebhook(db, BY, tenant, one.id, { events: ['job.failed'] });
  expect(await subscribedIn(tenant)).toEqual({ a: ended, b: ended, c: ended, new: ended });
  await changeWebhook(db, BY, tenant, two.id, { status: 'paused' });
  expect(await subscribedIn(tenant)).toEqual({ a: ['failed'], new: ['failed'] });
  await changeWebhook(db, BY, tenant, two.id, { status: 'active', definitionKeys: ['b'] });
  await stopWebhook(db, one, 'disabled', 'gone');
  expect(await subscribedIn(tenant)).toEqual({ b: ended });
  await deleteWebhook(db, BY, tenant, two.id);
  expect(await subscribedIn(tenant)).toEqual({});
});

it('a queue that is made while a webhook is being made knows of it', async () => {
  const link = await HeldLink.begin(database);
  await lockQueues(link);
  const made = findOrCreateQueue(database.db, 1, 'beside', 1, 'late');
  await untilBlocked(database);
  const webhook = '019a0000-0000-7000-8000-000000000001';
  const filter = [['job.failed'], null, null];
  const spec = [webhook, 'late', 'https://example.com', null, ...filter, 'cloudevents', 's'];
  await link.run(statementNamed('insert_webhook'), spec);
  await link.commit();
  await made;
  expect(await subscribedIn('late')).toEqual({ beside: ['failed'] });
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
    await until(
      'all deliveries exist',
      async () => (await deliveriesOf(database, webhook)).length === 4,
    );
    const deliveries = await deliveriesOf(database, webhook);
    expect(deliveries.map(({ params }) => params['jobId'])).toEqual(ids.flatMap((id) => [id, id]));
  } finally {
    await worker.stop();
  }
});
