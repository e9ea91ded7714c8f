import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { defineJob, NonRetryable } from '../../../src/core/definition/define.ts';
import type { DeliveryView } from '../../../src/core/webhook/webhook.ts';
import type { CloudEvent } from '../../../src/core/webhook/webhook-event.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { listDeliveries, makeTest, redeliver } from '../../../src/store/webhooks/deliveries.ts';
import { fireAlerts } from '../../../src/store/alerts/fire-alerts.ts';
import { changeWebhook, getWebhook, rotateSecret } from '../../../src/store/webhooks/webhooks.ts';
import { deliveryJob, type DeliveryOptions } from '../../../src/webhooks/delivery-job.ts';
import { guardedDialer } from '../../../src/webhooks/dialer.ts';
import { Networks } from '../../../src/webhooks/networks.ts';
import { RESPONSE_MAX_BYTES, SEND_TIMEOUT_MS } from '../../../src/webhooks/send.ts';
import { newSecret } from '../../../src/webhooks/sign.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import {
  type Received,
  type Receiver,
  startReceiver,
  status,
} from '../../support/servers/receiver.ts';
import { slackAnswer } from '../../support/providers/providers.ts';
import { until } from '../../support/until.ts';
import { BY, makeDue, newWebhook } from '../../support/webhooks.ts';
import { jobEnded, scheduling, type TestWorker, workerOn } from '../../support/servers/worker.ts';

/** What the jobs of this kind wait for. */
const heard = Promise.withResolvers<void>();

const JOBS = [
  defineJob({ key: 'patient', isolation: 'inline', run: async () => await heard.promise }),
  defineJob({ key: 'echo', isolation: 'inline', run: (params: unknown) => params }),
  defineJob({
    key: 'leaky',
    isolation: 'inline',
    redact: ['card.number'],
    run({ password }: { password: string }) {
      throw new NonRetryable(`cannot log in with ${password}`);
    },
  }),
];

describe('a delivery', () => {
  const database = sharedDatabase();
  let worker: TestWorker;
  let receiver: Receiver;
  let options: DeliveryOptions;
  let stopScheduling: () => Promise<void>;

  beforeAll(async () => {
    const dialer = guardedDialer(new Networks(['127.0.0.0/8']));
    options = { db: database.db, clock: systemClock, dialer, timeoutMs: SEND_TIMEOUT_MS };
    const builtIn = { definitions: [deliveryJob(options)], slots: 5 };
    worker = workerOn(database, { jobs: JOBS, builtIn });
    await worker.worker.start();
    stopScheduling = await scheduling(database);
  });
  afterAll(async () => {
    await stopScheduling();
    await worker.stop();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await receiver.close();
    await database.sql('delete from longshore.webhook');
  });

  const listed = async ({ id }: { id: string }): Promise<DeliveryView[]> =>
    (await listDeliveries(database.db, 'default', id, { afterId: null, limit: 50 })).deliveries;

  /** The one delivery of a webhook, once it has this status and so many sends. */
  const delivery = async (webhook: { id: string }, wanted: string, sends = 1) =>
    await until(`it is ${wanted} after ${sends}`, async () => {
      const [newest] = await listed(webhook);
      return newest?.status === wanted && newest.attempts.length === sends ? newest : null;
    });

  const verified = ({ headers, body }: Received, secret: string) =>
    new Webhook(secret).verify(body, headers as Record<string, string>);

  it('carries an alert as the API shows it', async () => {
    const webhook = await newWebhook(database, { url: receiver.url, events: ['alert.fired'] });
    const about = { rule: 'stuck', tenant: 'default', definitionKey: 'echo' } as const;
    const measured = {
      scheduleId: null,
      jobId: null,
      value: 2,
      threshold: 1,
      severity: 'warning',
    } as const;
    const words = { subject: 'echo', message: '2 running jobs of echo are stuck' };
    const [alert] = await fireAlerts(database.db, [{ ...about, ...measured, ...words }]);
    const [request] = await receiver.have(1);
    expect(verified(request!, webhook.secret)).toMatchObject({
      type: 'dev.longshore.alert.fired',
      subject: alert?.id,
      data: alert,
    });
    expect(await delivery(webhook, 'delivered')).toMatchObject({ jobId: null });
  });

  it('is a message for people where the webhook belongs to a chat', async () => {
    receiver.answerWith((response, request) => {
      const { status: code, body } = slackAnswer(request);
      response.writeHead(code).end(String(body));
    });
    const url = receiver.url;
    const webhook = await newWebhook(database, { url, format: 'slack', events: ['job.failed'] });
    const paramsJson = '{"password":"hunter22"}';
    const id = await enqueueOne(database, { definitionKey: 'leaky', paramsJson });
    await delivery(webhook, 'delivered');
    const [got] = receiver.received;
    expect(got?.headers['content-type']).toBe('application/json');
    const { text } = JSON.parse(got?.body ?? '') as { text: string };
    expect(text.split('\n')).toEqual([
      '*leaky failed*',
      `job ${id}, attempt 1 of 3`,
      'NON_RETRYABLE: cannot log in with [redacted]',
    ]);
  });

  it('carries the job as the API shows it, signed, once', async () => {
    const webhook = await newWebhook(database, { url: receiver.url, events: ['job.succeeded'] });
    const jobId = await enqueueOne(database, {
      definitionKey: 'echo',
      paramsJson: '{"n":1,"apiKey":"sk-123456"}',
      tags: ['red'],
    });
    const [request] = await receiver.have(1);
    const event = verified(request!, webhook.secret);
    const made = await delivery(webhook, 'delivered');
    expect(event).toEqual({
      specversion: '1.0',
      id: made.id,
      source: 'urn:longshore:tenant:default',
      type: 'dev.longshore.job.succeeded',
      subject: jobId,
      time: expect.any(String) as string,
      datacontenttype: 'application/json',
      data: expect.objectContaining({
        jobId,
        status: 'succeeded',
        attempts: 1,
        tags: ['red'],
        params: { n: 1, apiKey: '[redacted]' },
        result: { n: 1, apiKey: '[redacted]' },
        error: null,
      }) as unknown,
    });
    expect(request?.headers).toMatchObject({
      'webhook-id': made.id,
      'content-type': 'application/cloudevents+json',
    });
    expect(made).toMatchObject({
      event: 'job.succeeded',
      jobId,
      request: event,
      attempts: [{ status: 204, error: null, responseBody: '', responseTruncated: false }],
      finishedAt: expect.any(String) as string,
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('repeats no secret that the job repeated in its error', async () => {
    await newWebhook(database, { url: receiver.url, events: ['job.failed'] });
    const params = { password: 'hunter22', card: { number: '4111111111111111' } };
    await enqueueOne(database, { definitionKey: 'leaky', paramsJson: JSON.stringify(params) });
    const [request] = await receiver.have(1);
    expect(request?.body).toContain('cannot log in with [redacted]');
    expect(request?.body).not.toMatch(/hunter22|4111111111111111/);
  });

  test.each([
    ['a redirect', status(302, { location: 'http://127.0.0.1:1/' }), 302, /302; redirects are not/],
    ['a mistake of ours', status(400), 400, /answered 400/],
    ['a server error', status(503), 503, /answered 503/],
    ['a silence', () => undefined, null, /no answer within 0.3 s/],
    ['a reset', (response: { destroy(): void }) => response.destroy(), null, /no answer \(/],
  ] as const)(
    'answered by %s is tried again with the same id',
    async (kind, answer, code, words) => {
      receiver.answerWith(answer);
      if (kind === 'a silence') options.timeoutMs = 300;
      const webhook = await newWebhook(database, { url: receiver.url });
      await enqueueOne(database, { definitionKey: 'echo' });
      const failed = await delivery(webhook, 'retrying');
      options.timeoutMs = SEND_TIMEOUT_MS;
      expect(failed.attempts).toMatchObject([{ status: code }]);
      expect(failed.nextAttemptAt).not.toBeNull();
      const [job] = await database.sql<{ message: string }>(
        `select error ->> 'message' as message from longshore.attempt where job_id = $1`,
        [failed.id],
      );
      expect(job?.message).toMatch(words);
      expect(await getWebhook(database.db, 'default', webhook.id)).toMatchObject({ failures: 1 });
      receiver.answerWith(status(200, {}, 'thanks'));
      await makeDue(database, failed.id);
      const made = await delivery(webhook, 'delivered', 2);
      expect(made.attempts[1]).toMatchObject({ status: 200, responseBody: 'thanks' });
      const [first, second] = receiver.received;
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(second?.body).toBe(first?.body);
      verified(second!, webhook.secret);
      expect(receiver.received).toHaveLength(2);
      // One success, and the failures before it are forgiven.
      expect(await getWebhook(database.db, 'default', webhook.id)).toMatchObject({
        failures: 0,
        failingSince: null,
      });
    },
  );

  it('waits for no slot of a job: here all of them wait for it', async () => {
    const slots = 3;
    const webhook = await newWebhook(database, { url: receiver.url, events: ['job.started'] });
    const ids: string[] = [];
    for (let n = 0; n < slots; n += 1) {
      ids.push(await enqueueOne(database, { definitionKey: 'patient' }));
    }
    const started = await receiver.have(slots);
    const events = started.map((request) => verified(request, webhook.secret) as CloudEvent);
    expect(events.map(({ subject }) => subject).sort()).toEqual(ids.sort());
    expect(events[0]).toMatchObject({ data: { status: 'running', attempts: 1, result: null } });
    heard.resolve();
    for (const id of ids) expect(await jobEnded(database, id)).toMatchObject({ error: null });
  });

  it('comes back when the receiver says so', async () => {
    receiver.answerWith(status(429, { 'retry-after': '7200' }));
    const webhook = await newWebhook(database, { url: receiver.url });
    await enqueueOne(database, { definitionKey: 'echo' });
    const { attempts, nextAttemptAt } = await delivery(webhook, 'retrying');
    const waitsMs = Date.parse(nextAttemptAt ?? '') - Date.parse(attempts[0]?.at ?? '');
    expect(Math.round(waitsMs / 60_000)).toBe(120);
  });

  it('to a receiver that answers 410 ends, and disables the webhook', async () => {
    receiver.answerWith(status(410));
    const webhook = await newWebhook(database, { url: receiver.url });
    await enqueueOne(database, { definitionKey: 'echo' });
    await delivery(webhook, 'failed');
    expect(await getWebhook(database.db, 'default', webhook.id)).toMatchObject({
      status: 'disabled',
      notice: expect.stringContaining('410') as string,
    });
  });

  it('reads no more of an answer than it keeps', async () => {
    const chunk = 'x'.repeat(65_536);
    let left = 1_000;
    receiver.answerWith((response) => {
      response.writeHead(200);
      const more = () => {
        while (left > 0 && !response.destroyed) {
          left -= 1;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const webhook = await newWebhook(database, { url: receiver.url });
    await enqueueOne(database, { definitionKey: 'echo' });
    const { attempts } = await delivery(webhook, 'delivered');
    expect(attempts[0]).toMatchObject({ status: 200, responseTruncated: true });
    expect(attempts[0]?.responseBody).toBe('x'.repeat(RESPONSE_MAX_BYTES));
    expect(left).toBeGreaterThan(500);
  });

  it('pauses a webhook that has failed for a day, and waits for nothing then', async () => {
    receiver.answerWith(status(500));
    const webhook = await newWebhook(database, { url: receiver.url });
    const longAgo = `update longshore.webhook set failures = $2, failing_since = now() - $3::interval`;
    await database.sql(`${longAgo} where id = $1`, [webhook.id, 1_000, '23 hours']);
    await enqueueOne(database, { definitionKey: 'echo' });
    const { id } = await delivery(webhook, 'retrying');
    const read = async () => await getWebhook(database.db, 'default', webhook.id);
    expect(await read()).toMatchObject({ status: 'active', failures: 1_001 });
    await database.sql(`${longAgo} where id = $1`, [webhook.id, 5, '25 hours']);
    await makeDue(database, id);
    await delivery(webhook, 'retrying', 2);
    const notice = expect.stringMatching(/6 sends in a row .* more than a day/) as string;
    expect(await read()).toMatchObject({ status: 'paused', failures: 6, notice });
    // What was still to be sent ends unsent, and can be sent again.
    await makeDue(database, id);
    await delivery(webhook, 'failed', 2);
    expect(receiver.received).toHaveLength(2);
    await changeWebhook(database.db, BY, 'default', webhook.id, { status: 'active' });
    expect(await read()).toMatchObject({ status: 'active', failures: 0, notice: null });
  });

  it('says why a webhook fails and how many events wait, also after a pause by hand', async () => {
    receiver.answerWith(status(503));
    const webhook = await newWebhook(database, { url: receiver.url });
    await enqueueOne(database, { definitionKey: 'echo' });
    const { id } = await delivery(webhook, 'retrying');
    const read = async () => await getWebhook(database.db, 'default', webhook.id);
    const failing = {
      failures: 1,
      lastError: 'the receiver answered 503',
      waitingEvents: { count: 1, isExact: true },
    };
    expect(await read()).toMatchObject({ status: 'active', ...failing });
    await changeWebhook(database.db, BY, 'default', webhook.id, { status: 'paused' });
    await changeWebhook(database.db, BY, 'default', webhook.id, { status: 'active' });
    expect(await read()).toMatchObject({ status: 'active', notice: null, ...failing });
    receiver.answerWith(status(200));
    await makeDue(database, id);
    await delivery(webhook, 'delivered', 2);
    await until('it works again', async () => (await read())?.failures === 0);
    expect(await read()).toMatchObject({ lastError: null, waitingEvents: null });
  });

  it('is signed by both secrets while one replaces the other', async () => {
    const webhook = await newWebhook(database, { url: receiver.url });
    const next = newSecret();
    await rotateSecret(database.db, BY, 'default', webhook.id, next, 3_600_000);
    await enqueueOne(database, { definitionKey: 'echo' });
    const [first] = await receiver.have(1);
    verified(first!, webhook.secret);
    verified(first!, next);
    await database.sql(`update longshore.webhook set previous_until = now() - interval '1 s'`);
    await enqueueOne(database, { definitionKey: 'echo' });
    const [, second] = await receiver.have(2);
    verified(second!, next);
    expect(() => verified(second!, webhook.secret)).toThrow('No matching signature found');
  });

  it('is not sent again once a 2xx was recorded', async () => {
    const webhook = await newWebhook(database, { url: receiver.url });
    receiver.answerWith(status(500));
    await enqueueOne(database, { definitionKey: 'echo' });
    const { id } = await delivery(webhook, 'retrying');
    // As if the worker had died after it wrote down what was answered, before the outcome.
    await database.sql(
      `update longshore.step set value = '[{"at":"2026-01-01T00:00:00Z","status":204}]'
       where job_id = $1 and name = ''`,
      [id],
    );
    await makeDue(database, id);
    await delivery(webhook, 'delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('can be sent once more, and a test be sent, also to a webhook that is paused', async () => {
    const webhook = await newWebhook(database, { url: receiver.url });
    await enqueueOne(database, { definitionKey: 'echo' });
    const first = await delivery(webhook, 'delivered');
    const stopped = { status: 'paused' } as const;
    await changeWebhook(database.db, BY, 'default', webhook.id, stopped);
    const again = await redeliver(database.db, BY, 'default', webhook.id, first.id);
    const second = await delivery(webhook, 'delivered');
    expect(again).toEqual({ id: second.id });
    expect(second).toMatchObject({ redeliveryOf: first.id, request: first.request });
    const [one, two] = receiver.received;
    expect(two?.body).toBe(one?.body);
    expect(two?.headers['webhook-id']).toBe(second.id);
    const tested = await makeTest(database.db, BY, 'default', webhook.id);
    await receiver.have(3);
    expect(JSON.parse(receiver.received[2]?.body ?? '')).toMatchObject({
      id: tested,
      type: 'dev.longshore.webhook.test',
      subject: webhook.id,
      data: { webhookId: webhook.id },
    });
    expect(await redeliver(database.db, BY, 'acme', webhook.id, first.id)).toBeNull();
    expect(await makeTest(database.db, BY, 'acme', webhook.id)).toBeNull();
  });

  it('that waits for its next try is sent now when it is sent again, not twice', async () => {
    receiver.answerWith(status(429, { 'retry-after': '7200' }));
    const webhook = await newWebhook(database, { url: receiver.url });
    await enqueueOne(database, { definitionKey: 'echo' });
    const { id } = await delivery(webhook, 'retrying');
    expect(await redeliver(database.db, BY, 'acme', webhook.id, id)).toBeNull();
    receiver.answerWith(status(200));
    expect(await redeliver(database.db, BY, 'default', webhook.id, id)).toEqual({ id });
    expect(await delivery(webhook, 'delivered', 2)).toMatchObject({ id, redeliveryOf: null });
    expect(await listed(webhook)).toHaveLength(1);
  });

  it('is listed page by page, the newest first', async () => {
    const webhook = await newWebhook(database, { url: receiver.url });
    for (let n = 0; n < 3; n += 1) await enqueueOne(database, { definitionKey: 'echo' });
    await until('all are there', async () => (await listed(webhook)).length === 3);
    const all = (await listed(webhook)).map(({ id }) => id);
    expect(all).toEqual(all.toSorted().toReversed());
    const page = { afterId: all[0] ?? '', limit: 1 };
    const second = await listDeliveries(database.db, 'default', webhook.id, page);
    expect(second.deliveries.map(({ id }) => id)).toEqual([all[1]]);
    expect(second.nextId).toBe(all[1]);
    const foreign = await listDeliveries(database.db, 'acme', webhook.id, page);
    expect(foreign).toEqual({ deliveries: [], nextId: null });
  });
});
