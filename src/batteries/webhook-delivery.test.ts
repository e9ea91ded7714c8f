import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Receiver, startReceiver, status } from '../../test/support/servers/receiver.ts';
import { runJob } from '../testing/run-job.ts';
import { webhookDelivery } from './webhook-delivery.ts';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const local = { allow: ['127.0.0.0/8'] };

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await receiver.close();
});

test('sends the payload of the source document and returns a receipt', async () => {
  receiver.answerWith(status(202, {}, 'thanks'));
  const job = webhookDelivery(local);
  const run = await runJob(job, { url: receiver.url, data: { order: 17 } });
  expect(job.key).toBe('webhook_delivery');
  expect(job.info.paramsSchema).toMatchObject({ examples: [{ url: 'https://example.com/hooks' }] });
  expect(job.info.maxAttempts).toBe(5);
  const receipt = { status: 202, response: 'thanks', sends: 1 };
  expect(run).toMatchObject({ status: 'succeeded', result: receipt });
  expect(run.events).toMatchObject([{ type: 'webhook.sent', payload: { status: 202 } }]);
  const [got] = receiver.received;
  expect(got?.body).toBe('{"order":17}');
  expect(got?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': run.result?.deliveryId,
  });
  expect(got?.headers).not.toHaveProperty('webhook-signature');
});

test('signs with a secret of the environment, and adds headers', async () => {
  vi.stubEnv('HOOK_SECRET', SECRET);
  const job = webhookDelivery({ ...local, secret: 'HOOK_SECRET', key: 'orders.hook' });
  await runJob(job, { url: receiver.url, data: [1], headers: { 'x-shop': 'a' } });
  const [got] = receiver.received;
  const headers = got?.headers as Record<string, string>;
  expect(new Webhook(SECRET).verify(got?.body ?? '', headers)).toEqual([1]);
  expect(headers['x-shop']).toBe('a');
});

test('a missing secret, or headers of ours, are refused without a request', async () => {
  const job = webhookDelivery({ ...local, secret: 'HOOK_SECRET' });
  const unset = await runJob(job, { url: receiver.url, data: 1 });
  expect(unset).toMatchObject({ status: 'failed', error: { code: 'NON_RETRYABLE' } });
  expect(unset.error?.message).toContain('longshore secrets set HOOK_SECRET');
  const headers = { 'Webhook-Id': 'mine' };
  const forged = await runJob(webhookDelivery(local), { url: receiver.url, data: 1, headers });
  expect(forged.error?.code).toBe('PAYLOAD_INVALID');
  expect(receiver.received).toEqual([]);
});

test('an attempt after a success that was not reported sends nothing', async () => {
  const job = webhookDelivery(local);
  const first = await runJob(job, { url: receiver.url, data: 1 });
  const { checkpoint } = first;
  const again = await runJob(job, { url: receiver.url, data: 1 }, { attempt: 2, checkpoint });
  expect(again).toMatchObject({ status: 'succeeded', result: { status: 204, sends: 1 } });
  expect(receiver.received).toHaveLength(1);
});

test.each([
  [429, { 'retry-after': '90' }, 'retrying', 'RATE_LIMITED', 90_000],
  [503, {}, 'retrying', 'UPSTREAM_5XX', 1_000],
  [400, {}, 'failed', 'NON_RETRYABLE', null],
  [404, {}, 'failed', 'NOT_FOUND', null],
  [302, { location: 'http://127.0.0.1/' }, 'failed', 'NON_RETRYABLE', null],
] as const)('%i %j: the job is %s', async (code, headers, state, errorCode, nextInMs) => {
  receiver.answerWith(status(code, headers));
  const run = await runJob(webhookDelivery(local), { url: receiver.url, data: 1 });
  expect(run).toMatchObject({ status: state, nextInMs, error: { code: errorCode } });
  expect(receiver.received).toHaveLength(1);
});

test('a receiver that is gone is tried again; a private address is refused', async () => {
  await receiver.close();
  const gone = await runJob(webhookDelivery(local), { url: receiver.url, data: 1 });
  expect(gone).toMatchObject({ status: 'retrying', error: { code: 'NETWORK_ERROR' } });
  const inside = await runJob(webhookDelivery(), { url: receiver.url, data: 1 });
  expect(inside).toMatchObject({ status: 'failed', error: { code: 'NON_RETRYABLE' } });
  expect(inside.error?.message).toContain('not allowed');
});
