import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyWebhook, WebhookNotVerified } from '../index.ts';

const SECRET = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`;
const OTHER = `whsec_${btoa('fedcba9876543210fedcba9876543210')}`;
const BODY = JSON.stringify({ type: 'dev.longshore.job.failed', data: { jobId: 'ü' } });

function signed(at = new Date(), id = 'msg', body = BODY): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign(id, at, body),
  };
}

describe('verifyWebhook', () => {
  test.each([
    ['plain headers', BODY, signed(), SECRET],
    ['headers of fetch', BODY, new Headers(signed()), SECRET],
    ['bytes', new TextEncoder().encode(BODY), signed(), SECRET],
    ['one of several secrets', BODY, signed(), [OTHER, SECRET]],
    ['headers in capitals', BODY, upper(signed()), SECRET],
    ['one of several signatures', BODY, twice(signed()), SECRET],
  ])('takes %s', (_, payload, headers, secret) => {
    const event = verifyWebhook(payload, headers, secret);
    expect(event).toMatchObject({ type: 'dev.longshore.job.failed', data: { jobId: 'ü' } });
  });

  const longAgo = new Date(Date.now() - 6 * 60_000);
  const ahead = new Date(Date.now() + 6 * 60_000);
  test.each([
    ['another body', BODY.replace('failed', 'succeeded'), signed(), SECRET],
    ['another id', BODY, { ...signed(), 'webhook-id': 'other' }, SECRET],
    ['another time', BODY, { ...signed(), 'webhook-timestamp': later() }, SECRET],
    ['another secret', BODY, signed(), OTHER],
    ['no secret', BODY, signed(), []],
    ['what is no secret', BODY, signed(), 'whsec_'],
    ['an old one', BODY, signed(longAgo), SECRET],
    ['one of the future', BODY, signed(ahead), SECRET],
    ['no headers', BODY, {}, SECRET],
    ['an empty signature', BODY, { ...signed(), 'webhook-signature': 'v1,' }, SECRET],
    ['an unknown scheme', BODY, other(signed()), SECRET],
  ])('refuses %s', (_, payload, headers, secret) => {
    expect(() => verifyWebhook(payload, headers, secret)).toThrow(WebhookNotVerified);
  });
});

function upper(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toUpperCase(), v]));
}

function twice(headers: Record<string, string>): Record<string, string> {
  return { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
}

function other(headers: Record<string, string>): Record<string, string> {
  const signature = String(headers['webhook-signature']).replace('v1,', 'v9,');
  return { ...headers, 'webhook-signature': signature };
}

function later(): string {
  return String(Math.floor(Date.now() / 1_000) + 30);
}
