import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newSecret, signedHeaders } from './sign.ts';

/** The vector of the specification's own libraries. */
test('signs as Standard Webhooks says', () => {
  const headers = signedHeaders(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    new Date(1_614_265_330_000),
    '{"test": 2432232314}',
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  );
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('signs once for each secret, and either is enough to verify it', () => {
  const secrets = [newSecret(), newSecret()];
  const body = '{"text":"grüße"}';
  const headers = signedHeaders('a', new Date(), body, secrets);
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toBeDefined();
  expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow('No matching');
  expect(secrets[0]).not.toBe(secrets[1]);
});
