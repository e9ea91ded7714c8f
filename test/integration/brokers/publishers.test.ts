import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Publishers } from '../../../src/brokers/publishers.ts';
import { inspectBrokers } from '../../../src/doctor/facts/brokers.ts';
import { hasRabbit, TestRabbit } from '../../support/servers/rabbit.ts';
import { until } from '../../support/until.ts';

let rabbit: TestRabbit;

beforeAll(async () => {
  if (hasRabbit) rabbit = await TestRabbit.start();
});
afterAll(async () => {
  if (hasRabbit) await rabbit.remove();
});

function publishersOf(exchange: string): Publishers {
  const publishers = new Publishers(`rabbit=${rabbit.url}?exchange=${exchange}`);
  onTestFinished(async () => await publishers.close());
  return publishers;
}

const message = (id: string) => ({
  id,
  subject: 'job',
  routingKey: 'job.failed.report',
  type: 'dev.longshore.job.failed',
  contentType: 'application/cloudevents+json',
  headers: { 'webhook-id': id },
  body: '{}',
});

describe.skipIf(!hasRabbit)('a publisher (needs rabbitmq-server)', () => {
  it('connects again after the broker was killed, and reports what was not published', async () => {
    await rabbit.makeQueue('failures');
    const channel = await rabbit.channel();
    await channel.bindQueue('failures', 'amq.topic', 'job.failed.#');
    const publishers = publishersOf('amq.topic');
    await publishers.publish('rabbit', message('a'));
    await rabbit.server.kill();
    await expect(publishers.publish('rabbit', message('b'))).rejects.toThrow();
    await rabbit.restart();
    await until('it publishes again', async () =>
      publishers.publish('rabbit', message('c')).then(
        () => true,
        () => false,
      ),
    );
    const ids = (await rabbit.takeAll('failures')).map(({ messageId }) => messageId);
    expect(ids).toContain('a');
    expect(ids).toContain('c');
  });

  it('says when there is no such exchange, and goes on when there is', async () => {
    const publishers = publishersOf('later');
    const publish = async () => await publishers.publish('rabbit', message('a'));
    await expect(publish()).rejects.toMatchObject({ code: 404 });
    await (await rabbit.channel()).assertExchange('later', 'fanout');
    await publish();
  });

  it('is looked at by the doctor, with its exchange', async () => {
    const look = async (exchange: string) =>
      await inspectBrokers(`rabbit=${rabbit.url}?exchange=${exchange}`);
    expect(await look('amq.topic')).toEqual([{ name: 'rabbit', trouble: null }]);
    const [missing] = await look('missing');
    expect(missing?.trouble).toContain("no exchange 'missing'");
  });

  it('knows only its brokers', async () => {
    const publishers = publishersOf('amq.topic');
    expect(publishers.names).toEqual(['rabbit']);
    await expect(publishers.publish('other', message('a'))).rejects.toThrow('no broker other');
  });
});
