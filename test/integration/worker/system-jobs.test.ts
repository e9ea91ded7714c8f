import type { FastifyInstance } from 'fastify';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { defineJob, NonRetryable } from '../../../src/core/definition/define.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { deliveryJob } from '../../../src/webhooks/delivery-job.ts';
import { guardedDialer } from '../../../src/webhooks/dialer.ts';
import { Networks } from '../../../src/webhooks/networks.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { serverOn, callAs, newKey, newTenant } from '../../support/server-edge.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { type Receiver, startReceiver, status } from '../../support/servers/receiver.ts';
import { until } from '../../support/until.ts';
import { newWebhook } from '../../support/webhooks.ts';
import { jobEnded, type TestWorker, workerOn } from '../../support/servers/worker.ts';

/** Deliveries and hooks are jobs, and yet no caller may rewrite what they say. */
const database = sharedDatabase();
let app: FastifyInstance;
let worker: TestWorker;
let key: string;
const ran: unknown[] = [];

const JOBS = [
  defineJob({ key: 'echo', isolation: 'inline', run: (params: unknown) => params }),
  defineJob({
    key: 'hooked',
    isolation: 'inline',
    onSuccess({ result }) {
      ran.push(result);
      throw new NonRetryable('the hook fails');
    },
    run: () => 'the true result',
  }),
];

beforeAll(async () => {
  await newTenant(database, 'acme');
  app = serverOn(database);
  ({ key } = await newKey(database, 'default', 'jobs:read', 'jobs:write', 'operate'));
  const dialer = guardedDialer(new Networks(['127.0.0.0/8']));
  const delivery = deliveryJob({ db: database.db, clock: systemClock, dialer });
  worker = workerOn(database, { jobs: JOBS, builtIn: { definitions: [delivery], slots: 5 } });
  await worker.worker.start();
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

const receiving = async (): Promise<Receiver> => {
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await receiver.close();
    await database.sql('delete from longshore.webhook');
  });
  return receiver;
};

/** A delivery to this receiver that has failed for good. */
const failedDelivery = async (receiver: Receiver) => {
  receiver.answerWith(status(410));
  const webhook = await newWebhook(database, { url: receiver.url, events: ['job.succeeded'] });
  await enqueueOne(database, { definitionKey: 'echo' });
  await receiver.have(1);
  const failed = await until('the delivery has failed', async () => {
    const { body } = await callAs(app, key, 'GET', `/v1/webhooks/${webhook.id}/deliveries`);
    const [one] = body['deliveries'] as { id: string; status: string }[];
    return one?.status === 'failed' ? one : null;
  });
  receiver.answerWith(status(204));
  return { webhook, deliveryId: failed.id };
};

describe('a delivery of a webhook', () => {
  it('is not changed as a job, by id or in bulk', async () => {
    const receiver = await receiving();
    const other = await receiving();
    const victim = await newWebhook(database, { url: other.url }, 'acme');
    const { deliveryId } = await failedDelivery(receiver);
    const envelope = { type: 'dev.longshore.job.succeeded', data: 'forged' };
    const params = { webhookId: victim.id, event: 'job.succeeded', byHand: true, envelope };
    const calls = [
      ['POST', `/v1/jobs/${deliveryId}/retry`, { params }],
      ['POST', `/v1/jobs/${deliveryId}/retry`, { mode: 'now' }],
      ['POST', `/v1/jobs/${deliveryId}/cancel`, undefined],
      ['POST', `/v1/jobs/${deliveryId}/release`, undefined],
      ['DELETE', `/v1/jobs/${deliveryId}`, undefined],
    ] as const;
    for (const [method, url, payload] of calls) {
      const { status: answered, body } = await callAs(app, key, method, url, { payload });
      expect([method, url, answered]).toEqual([method, url, 403]);
      expect(body['detail']).toMatch(
        /^a webhook delivery cannot be changed as a job: redeliver it/,
      );
    }
    for (const action of ['retry', 'delete', 'cancel']) {
      const filter = { definitionKey: '$webhook' };
      const payload = { action, filter, ...(action === 'retry' && { params }) };
      const answer = await callAs(app, key, 'POST', '/v1/bulk', { payload });
      expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
    }
    expect(other.received).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });

  it('is sent again by its own route', async () => {
    const receiver = await receiving();
    const { webhook, deliveryId } = await failedDelivery(receiver);
    const url = `/v1/webhooks/${webhook.id}/deliveries/${deliveryId}/redeliver`;
    expect(await callAs(app, key, 'POST', url)).toMatchObject({ status: 202 });
    const [, again] = await receiver.have(2);
    const headers = again!.headers as Record<string, string>;
    expect(new Webhook(webhook.secret).verify(again!.body, headers)).toMatchObject({
      type: 'dev.longshore.job.succeeded',
    });
  });

  it('is never signed with the secret of another tenant, whatever its rows contain', async () => {
    const own = await receiving();
    const other = await receiving();
    const victim = await newWebhook(database, { url: other.url }, 'acme');
    const paused = await newWebhook(database, { url: own.url, events: ['job.succeeded'] });
    await database.sql(
      `update longshore.queue set paused_at = now() where key = '$webhook' and tenant = 'default'`,
    );
    await enqueueOne(database, { definitionKey: 'echo' });
    const made = await until('the delivery is there', async () => {
      const [row] = await database.sql<{ id: string }>(
        'select id from longshore.job where parent_id = $1',
        [paused.id],
      );
      return row;
    });
    // What an injection elsewhere could do at worst.
    await database.sql(
      `update longshore.job set parent_id = $2::uuid,
         params = json_build_object('webhookId', $2::uuid, 'event', 'job.succeeded', 'byHand', true,
           'envelope', json_build_object('data', 'forged'))
       where id = $1`,
      [made.id, victim.id],
    );
    await database.sql(`update longshore.queue set paused_at = null where key = '$webhook'`);
    expect(await jobEnded(database, made.id)).toMatchObject({
      status: 'failed',
      error: { message: 'the webhook was deleted' },
    });
    expect([...own.received, ...other.received]).toEqual([]);
  });
});

describe('a hook', () => {
  it('runs again with what its job returned, and never with edited params', async () => {
    const parent = await enqueueOne(database, { definitionKey: 'hooked' });
    const hook = await until('the hook has failed', async () => {
      const [row] = await database.sql<{ id: string }>(
        `select j.id from longshore.job j join longshore.done d using (shard, id)
         where j.parent_id = $1`,
        [parent],
      );
      return row;
    });
    const url = `/v1/jobs/${hook.id}/retry`;
    const payload = { params: { hook: 'onSuccess', result: 'forged' } };
    const refused = await callAs(app, key, 'POST', url, { payload });
    expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN']);
    expect(refused.body['detail']).toMatch(/cannot be edited: retry without params$/);
    expect(await callAs(app, key, 'POST', url)).toMatchObject({ status: 202 });
    await until('it ran again', () => ran.length === 2);
    expect(ran).toEqual(['the true result', 'the true result']);
  });
});
