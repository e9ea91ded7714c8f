import { expect, test } from 'vitest';
import { isTopicName, readKafkaUrl } from './kafka-url.ts';

test('a URL has brokers, and defaults for the rest', () => {
  expect(readKafkaUrl('kafka://k1,k2:9093')).toEqual({
    brokers: [
      { host: 'k1', port: 9_092 },
      { host: 'k2', port: 9_093 },
    ],
    tls: false,
    sasl: null,
    topic: null,
    sessionTimeoutMs: 30_000,
  });
});

test('a URL has TLS, a user, a topic and a timeout', () => {
  const query = 'topic=job.events&sasl=scram-sha-512&session-timeout-ms=10000';
  expect(readKafkaUrl(`kafkas://me:a%40b@[::1]:9093/?${query}`)).toEqual({
    brokers: [{ host: '::1', port: 9_093 }],
    tls: true,
    sasl: { mechanism: 'SCRAM-SHA-512', username: 'me', password: 'a@b' },
    topic: 'job.events',
    sessionTimeoutMs: 10_000,
  });
  expect(readKafkaUrl('kafka://me:b@k1')).toMatchObject({ sasl: { mechanism: 'PLAIN' } });
});

test.each([
  ['kafka://', 'HOST:PORT'],
  ['kafka://k1:0', 'port'],
  ['kafka://k1,,k2', 'host'],
  ['kafka://k1?topic=a/b', 'topic'],
  ['kafka://k1?exchange=a', 'unknown parameter "exchange"'],
  ['kafka://me:b@k1?sasl=scram', 'unknown sasl "scram"'],
  ['kafka://k1?sasl=plain', 'USER:PASSWORD'],
  ['kafka://k1?session-timeout-ms=1', 'session-timeout-ms'],
  ['kafka://me:%@k1', '%25'],
])('%s is refused', (url, words) => expect(readKafkaUrl(url)).toContain(words));

test.each([
  ['orders.dead_2-b', true],
  ['', false],
  ['..', false],
  ['a b', false],
  ['a'.repeat(250), false],
])('%s is the name of a topic: %j', (name, expected) => expect(isTopicName(name)).toBe(expected));
