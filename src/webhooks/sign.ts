import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The headers of Standard Webhooks, with one signature per secret, so that a receiver can rotate. */
export function signedHeaders(
  id: string,
  now: Date,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    ...(secrets.length > 0 && {
      'webhook-signature': secrets.map((key) => new Webhook(key).sign(id, now, body)).join(' '),
    }),
  };
}
