import { expect, test } from 'vitest';
import { hasPassword, kafkaProblem, parseBrokers } from './broker-url.ts';

test('brokers have names', () => {
  const text = 'rabbit=amqps://a:b@mq/jobs?exchange=events, other=amqp://127.0.0.1:5673';
  expect([...(parseBrokers(text) ?? [])]).toEqual([
    ['rabbit', 'amqps://a:b@mq/jobs?exchange=events'],
    ['other', 'amqp://127.0.0.1:5673'],
  ]);
});

test('a comma in a password does not separate', () => {
  expect(parseBrokers('rabbit=amqp://a:b,c@mq')?.get('rabbit')).toBe('amqp://a:b,c@mq');
});

test.each(['', 'amqp://mq', 'rabbit=', 'rabbit=mq', 'rabbit=http://mq', 'Rabbit=amqp://mq'])(
  '%j is refused',
  (text) => expect(parseBrokers(text)).toBeNull(),
);

test('a name twice is refused', () => {
  expect(parseBrokers('a=amqp://mq,a=amqp://other')).toBeNull();
});

test('the hosts of Kafka are one broker', () => {
  const text = 'events=kafka://k1:9092,k2:9093?topic=events,rabbit=amqp://mq';
  expect([...(parseBrokers(text) ?? [])]).toEqual([
    ['events', 'kafka://k1:9092,k2:9093?topic=events'],
    ['rabbit', 'amqp://mq'],
  ]);
});

test('a problem with a Kafka URL is named, without its password', () => {
  const text = 'events=kafka://me:secret@k1?tpoic=a';
  expect(parseBrokers(text)).toBeNull();
  expect(kafkaProblem(text)).toBe('events: unknown parameter "tpoic": did you mean "topic"?');
  expect(kafkaProblem('rabbit=amqp://mq')).toBeNull();
});

test.each([
  ['amqp://me:secret@mq', true],
  ['amqp://mq', false],
  ['kafkas://me:secret@k1,k2', true],
  ['kafka://k1', false],
])('%s has a password: %j', (url, expected) => expect(hasPassword(url)).toBe(expected));
