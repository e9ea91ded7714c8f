import { expect, test } from 'vitest';
import { clientOptions, kafkaAddress, loadKafka, plainError } from './kafka-client.ts';

test('TLS and the user of a URL reach the client', () => {
  const url = 'kafkas://me:secret@k1:9093?sasl=scram-sha-256';
  expect(clientOptions(kafkaAddress(url), 'ingest')).toMatchObject({
    clientId: 'longshore-ingest',
    bootstrapBrokers: [{ host: 'k1', port: 9_093 }],
    tls: {},
    tlsServerName: true,
    sasl: { mechanism: 'SCRAM-SHA-256', username: 'me', password: 'secret' },
  });
  const plain = clientOptions(kafkaAddress('kafka://k1'), 'ingest');
  expect(plain).not.toHaveProperty('tls');
  expect(plain).not.toHaveProperty('sasl');
});

test('a missing package is a refusal that names it', async () => {
  const missing = async () => await Promise.reject(new Error('not found'));
  await expect(loadKafka(missing)).rejects.toThrow('npm install @platformatic/kafka');
});

test('the innermost error is reported', () => {
  const inner = new Error('connect ECONNREFUSED');
  expect(plainError(new AggregateError([new AggregateError([inner])]))).toBe(inner);
  const wrapped = new Error('failed', { cause: new AggregateError([inner]) });
  expect(plainError(wrapped)).toBe(inner);
  expect(plainError(inner)).toBe(inner);
});
