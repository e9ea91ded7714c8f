import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Channel } from 'amqplib';
import { Longshore, verifyWebhook } from '../../../src/client/index.ts';
import { startJob } from '../../support/api.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { endAll, FIXTURES, launch } from '../../support/processes.ts';
import { hasRabbit, TestRabbit } from '../../support/servers/rabbit.ts';
import { until } from '../../support/until.ts';

const database = sharedDatabase();
let rabbit: TestRabbit;

beforeAll(async () => {
  if (hasRabbit) rabbit = await TestRabbit.start();
});
afterEach(async () => await endAll());
afterAll(async () => {
  if (hasRabbit) await rabbit.remove();
});

interface Seen {
  jobs: Map<string, Set<string>>;
  keys: Set<string>;
}

/** What a consumer has seen: the ids of deliveries by job. */
async function consume(channel: Channel, queue: string, secret: string): Promise<Seen> {
  const seen: Seen = { jobs: new Map(), keys: new Set() };
  await channel.consume(queue, (message) => {
    if (!message) return;
    const headers = message.properties.headers as Record<string, string>;
    const event = verifyWebhook(message.content, headers, secret);
    const deliveries = seen.jobs.get(event.subject) ?? new Set();
    seen.jobs.set(event.subject, deliveries.add(String(message.properties.messageId)));
    seen.keys.add(message.fields.routingKey);
    channel.ack(message);
  });
  return seen;
}

describe.skipIf(!hasRabbit)('events to an exchange (need rabbitmq-server)', () => {
  it('are all published, although workers and the broker are killed', async () => {
    const env = {
      DATABASE_URL: database.url,
      LONGSHORE_BROKERS: `rabbit=${rabbit.url}?exchange=amq.topic,other=${rabbit.url}`,
      LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
      LONGSHORE_LEASE_MS: '2000',
      LONGSHORE_POLL_MS: '200',
    };
    const { address } = (await launch('api', { env })).summary;
    let worker = await launch('worker', { env });
    const client = new Longshore({ url: address });
    const create = async (url: string) =>
      await client.webhooks.create({ url, events: ['job.succeeded'], definitionKeys: ['echo'] });
    await expect(create('broker://rabit')).rejects.toThrow('did you mean "rabbit"');
    // Without an exchange, a broker is only consumed.
    await expect(create('broker://other')).rejects.toThrow('unknown broker');
    const { secret } = await create('broker://rabbit');

    await rabbit.makeQueue('events');
    let channel = await rabbit.channel();
    await channel.bindQueue('events', 'amq.topic', 'job.succeeded.#');
    const before = await consume(channel, 'events', secret);
    const ids: string[] = [];
    const enqueue = async (count: number) => {
      for (let at = 0; at < count; at += 1) ids.push(await startJob(address, 'echo', { at }));
    };
    await enqueue(60);
    await until('some have arrived', () => before.jobs.size >= 10);
    worker.signal('SIGKILL');
    await worker.exited;
    await enqueue(20);
    await rabbit.restart();
    worker = await launch('worker', { env });
    channel = await rabbit.channel();
    const after = await consume(channel, 'events', secret);
    const arrived = () => new Set([...before.jobs.keys(), ...after.jobs.keys()]);
    await until('all have arrived', () => arrived().size === ids.length);
    expect([...arrived()].sort()).toEqual([...ids].sort());
    // A repeat has the id of the first try.
    for (const id of ids) {
      const deliveries = [...(before.jobs.get(id) ?? []), ...(after.jobs.get(id) ?? [])];
      expect(new Set(deliveries).size).toBe(1);
    }
    expect(before.keys).toEqual(new Set(['job.succeeded.echo']));
  });
});
