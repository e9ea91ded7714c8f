import { expect, test } from 'vitest';
import { run } from '../../../../test/support/cli.ts';

/** The substitute of the application shows the plan. */
async function planOf(...flags: string[]): Promise<unknown> {
  return await planFrom('--from', 'rabbit', '--queue', 'orders', ...flags);
}

async function kafkaPlanOf(...flags: string[]): Promise<unknown> {
  return await planFrom('--from', 'events', '--topic', 'orders', ...flags);
}

async function planFrom(...flags: string[]): Promise<unknown> {
  const env = { LONGSHORE_BROKERS: 'rabbit=amqp://me:secret@mq,events=kafka://k1,k2:9093' };
  const app = { drainAsked: Promise.resolve() };
  const args = ['ingest', '--json', ...flags];
  const { stdout, stderr } = await run(args, { env, app });
  if (stderr !== '') throw new Error(stderr);
  const { database } = JSON.parse(stdout) as { database: string };
  return JSON.parse(database);
}

test('ingest has defaults for everything but its queue', async () => {
  expect(await planOf()).toEqual({
    from: {
      kind: 'amqp',
      url: 'amqp://me:secret@mq',
      queue: 'orders',
      prefetch: 1_000,
      deadLetters: { kind: 'queue', name: 'orders.dead' },
    },
    batchMax: 500,
    tenant: 'default',
    source: 'orders',
    definitionKey: null,
    idHeader: null,
    requireId: false,
  });
});

test('ingest has defaults for everything but its topic', async () => {
  expect(await kafkaPlanOf()).toMatchObject({
    from: {
      kind: 'kafka',
      url: 'kafka://k1,k2:9093',
      topic: 'orders',
      group: 'longshore',
      prefetch: 1_000,
      deadLetterTopic: 'orders.dead',
    },
    source: 'orders',
  });
});

test('ingest has no larger batch than its prefetch', async () => {
  expect(await planOf('--prefetch', '20')).toMatchObject({ from: { prefetch: 20 }, batchMax: 20 });
});

test.each([
  [['--dead-letter-queue', 'graves'], { kind: 'queue', name: 'graves' }],
  [['--dead-letter-exchange', 'graves'], { kind: 'exchange', name: 'graves' }],
  [['--dead-letter-by-broker'], { kind: 'broker' }],
])('ingest %j', async (flags, deadLetters) => {
  expect(await planOf(...flags)).toMatchObject({ from: { deadLetters } });
});

test.each([
  [['--dead-letter-queue', 'a', '--dead-letter-by-broker'], 'one place'],
  [['--dead-letter-queue', 'orders'], 'another queue'],
  [['--definition', 'no key'], 'no key of a definition'],
  [['--batch', '0'], '--batch must be from 1'],
  [['--prefetch', '65536'], '--prefetch must be from 1'],
])('ingest %j is refused', async (flags, words) => {
  await expect(planOf(...flags)).rejects.toThrow(words);
});

test.each([
  [['--queue', 'a'], '--queue is for RabbitMQ'],
  [['--dead-letter-by-broker'], '--dead-letter-by-broker is for RabbitMQ'],
  [['--dead-letter-topic', 'orders'], 'another topic'],
  [['--dead-letter-topic', 'no/topic'], 'no name of a topic'],
  [['--require-id'], '--require-id needs --id-header'],
  [['--group', ''], '--group'],
])('ingest from Kafka %j is refused', async (flags, words) => {
  await expect(kafkaPlanOf(...flags)).rejects.toThrow(words);
});

test.each([
  [['--from', 'rabbit'], '--queue is missing'],
  [['--from', 'events'], '--topic is missing'],
  [['--from', 'rabbit', '--queue', 'a', '--group', 'b'], '--group is for Kafka'],
  [['--from', 'kafka://me:secret@mq', '--topic', 'a'], 'LONGSHORE_BROKERS_FILE'],
  [['--from', 'kafka://mq?tpoic=a', '--topic', 'a'], 'kafka://'],
])('ingest %j is refused', async (flags, words) => {
  await expect(planFrom(...flags)).rejects.toThrow(words);
});
