import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AmqpSource } from '../../../src/brokers/amqp/amqp-source.ts';
import type { DeadLetterTarget } from '../../../src/brokers/amqp/dead-letters.ts';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { Quotas } from '../../../src/enqueue/quotas.ts';
import { Ingester } from '../../../src/ingest/ingester.ts';
import type { Mapping } from '../../../src/ingest/read-message.ts';
import { IngestMetrics } from '../../../src/metrics/ingest-metrics.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { hasRabbit, TestRabbit } from '../../support/servers/rabbit.ts';
import { until } from '../../support/until.ts';

const database = databasePerTest();
let rabbit: TestRabbit;

beforeAll(async () => {
  if (hasRabbit) rabbit = await TestRabbit.start();
});
afterAll(async () => {
  if (hasRabbit) await rabbit.remove();
});

interface Options extends Partial<Mapping> {
  prefetch?: number;
  deadLetters?: DeadLetterTarget;
  enqueuer?: Enqueuer;
}

async function start(queue: string, options: Options = {}) {
  const { prefetch = 100, deadLetters = { kind: 'queue', name: `${queue}.dead` } } = options;
  const metrics = new IngestMetrics(queue);
  const ingester = new Ingester({
    source: new AmqpSource({ url: rabbit.url, queue, prefetch, deadLetters }),
    mapping: {
      tenant: 'default',
      source: queue,
      definitionKey: null,
      idHeader: null,
      requireId: false,
      ...options,
    },
    batchMax: prefetch,
    enqueuer: options.enqueuer ?? database.enqueuer,
    newRequestId: () => database.db.ids.next(0),
    metrics,
    log: silentLog,
  });
  await ingester.start();
  onTestFinished(async () => await ingester.stop());
  return { ingester, metrics };
}

const jobs = async () =>
  await database.sql<{ key: string; params: unknown }>(
    `select key, params from longshore.job join longshore.queue using (shard, queue) order by id`,
  );
const stored = async (wanted: number) =>
  await until(`${wanted} are stored`, async () => (await jobs()).length === wanted);
const line = async (metrics: IngestMetrics, name: string) =>
  (await metrics.text()).split('\n').find((text) => text.startsWith(name));
const reasons = async (queue: string) =>
  (await rabbit.takeAll(queue)).map(({ headers }) => headers['x-longshore-reason']);
const deadLetters = async (queue: string, wanted: number) =>
  await until(`${wanted} dead letters`, async () => (await rabbit.ready(queue)) === wanted);

describe.skipIf(!hasRabbit)('messages of RabbitMQ (need rabbitmq-server)', () => {
  it('become jobs, each once', async () => {
    await rabbit.makeQueue('plain');
    const { metrics } = await start('plain');
    const message = (order: number) => ({
      body: { definitionKey: 'order.ship', params: { order } },
      messageId: `order-${order}`,
    });
    await rabbit.send('plain', [message(1), message(2), message(1)]);
    await until('all are counted', async () => {
      const duplicates = 'longshore_ingest_messages_total{source="plain",outcome="duplicate"} 1';
      return (await metrics.text()).includes(duplicates);
    });
    expect(await jobs()).toEqual([
      { key: 'order.ship', params: { order: 1 } },
      { key: 'order.ship', params: { order: 2 } },
    ]);
    expect(await line(metrics, 'longshore_ingest_connected')).toMatch(/ 1$/);
    await until('all are acknowledged', async () =>
      (await line(metrics, 'longshore_ingest_unsettled_messages'))?.endsWith(' 0'),
    );
  });

  it('that cannot become jobs go to the dead-letter queue with their reason, and delay no other', async () => {
    await rabbit.makeQueue('poison');
    const properties = { order: { type: 'integer' } };
    const paramsSchema = { type: 'object', properties };
    await publishDefinitions(database.db, [definitionInfo({ key: 'strict' }, { paramsSchema })]);
    const { metrics } = await start('poison', { definitionKey: 'strict', requireId: true });
    await rabbit.send('poison', [
      { body: '{', messageId: 'a', headers: { own: 'kept' }, contentType: 'text/plain' },
      { body: { order: 'text' }, messageId: 'b' },
      { body: Buffer.alloc(1_048_577, ' '), messageId: 'c' },
      { body: { order: 1 }, messageId: 'd' },
      { body: { order: 2 }, messageId: 'd' },
      { body: { order: 3 } },
      { body: { order: 4 }, messageId: 'e' },
    ]);
    await stored(2);
    await deadLetters('poison.dead', 5);
    const found = await rabbit.takeAll('poison.dead');
    const told = found.map(({ messageId, headers }) => [messageId, headers['x-longshore-reason']]);
    expect(Object.fromEntries(told)).toEqual({
      a: 'INVALID_JSON',
      b: 'PAYLOAD_INVALID',
      c: 'PAYLOAD_TOO_LARGE',
      d: 'IDEMPOTENCY_CONFLICT',
      undefined: 'NO_MESSAGE_ID',
    });
    const first = found.find(({ messageId }) => messageId === 'a');
    expect(first).toMatchObject({
      body: '{',
      headers: { own: 'kept', 'x-longshore-source': 'poison' },
    });
    expect(first?.headers['x-longshore-detail']).toContain('not JSON');
    const counted = 'longshore_ingest_messages_total{source="poison",outcome="dead-lettered"} 5';
    await until('all are counted', async () => (await metrics.text()).includes(counted));
    expect(await rabbit.ready('poison')).toBe(0);
  });

  it('of an unknown definition are refused where the server refuses them', async () => {
    await rabbit.makeQueue('strict');
    const { db, waker } = database;
    const enqueuer = new Enqueuer(db, waker, systemClock, null, null, true);
    await start('strict', { enqueuer });
    await rabbit.send('strict', [{ body: { definitionKey: 'unknown' }, messageId: 'a' }]);
    await deadLetters('strict.dead', 1);
    expect(await reasons('strict.dead')).toEqual(['UNREGISTERED']);
  });

  it('that are poison go to an exchange, and wait while it leads nowhere', async () => {
    await rabbit.makeQueue('routed');
    const channel = await rabbit.channel();
    await channel.assertExchange('graves', 'fanout');
    const deadLetters = { kind: 'exchange', name: 'graves' } as const;
    const { metrics } = await start('routed', { deadLetters });
    await rabbit.send('routed', [{ body: '{', messageId: 'a' }]);
    const waits = 'longshore_ingest_waits_total{source="routed",reason="dead-letter"}';
    await until('it waits', async () => (await metrics.text()).includes(waits));
    await rabbit.makeQueue('grave');
    await channel.bindQueue('grave', 'graves', '');
    await until('it arrives', async () => (await rabbit.ready('grave')) === 1);
    expect(await reasons('grave')).toEqual(['INVALID_JSON']);
  });

  it('that are poison can be left to the exchange of their queue', async () => {
    await rabbit.makeQueue('own-grave');
    const own = { deadLetterExchange: '', deadLetterRoutingKey: 'own-grave' };
    await rabbit.makeQueue('own', own);
    await start('own', { deadLetters: { kind: 'broker' } });
    await rabbit.send('own', [
      { body: '{', messageId: 'a' },
      { body: { definitionKey: 'order.ship' }, messageId: 'b' },
    ]);
    await stored(1);
    await until('it arrives', async () => (await rabbit.ready('own-grave')) === 1);
    const [dead] = await rabbit.takeAll('own-grave');
    expect(dead).toMatchObject({ messageId: 'a', headers: { 'x-first-death-reason': 'rejected' } });
  });

  it('wait while the quota of the tenant is reached, and no more than the prefetch is taken', async () => {
    await rabbit.makeQueue('quota');
    const limits = { tenantQueuedMax: 5, tenantQueuedBytesMax: 0 };
    const others = { tenantSchedulesMax: 0, tenantWebhooksMax: 0 };
    const { db, waker } = database;
    const quotas = new Quotas(db, systemClock, { ...limits, ...others });
    const enqueuer = new Enqueuer(db, waker, systemClock, quotas);
    const { metrics } = await start('quota', { enqueuer, prefetch: 4, definitionKey: 'held' });
    const body = (at: number) => ({ body: { at }, messageId: `${at}` });
    await rabbit.send(
      'quota',
      Array.from({ length: 12 }, (_, at) => body(at)),
    );
    await stored(5);
    const waits = 'longshore_ingest_waits_total{source="quota",reason="quota"}';
    await until('it waits', async () => (await metrics.text()).includes(waits));
    await until('it holds its prefetch', async () =>
      (await line(metrics, 'longshore_ingest_unsettled_messages'))?.endsWith(' 4'),
    );
    // Of twelve, at most five are acknowledged and four are held.
    expect(await rabbit.ready('quota')).toBeGreaterThanOrEqual(3);
    await database.sql(`with gone as (delete from longshore.waiting returning id)
      delete from longshore.job where id in (select id from gone)`);
    await stored(5);
    await database.sql(`with gone as (delete from longshore.waiting returning id)
      delete from longshore.job where id in (select id from gone)`);
    await stored(2);
    expect(await rabbit.ready('quota')).toBe(0);
  });

  it('come again after a stop, and a deleted queue is waited for', async () => {
    await rabbit.makeQueue('stopped');
    const { ingester, metrics } = await start('stopped', { definitionKey: 'a' });
    await until('it consumes', async () =>
      (await line(metrics, 'longshore_ingest_connected'))?.endsWith(' 1'),
    );
    const channel = await rabbit.channel();
    await channel.deleteQueue('stopped');
    await until('it has noticed', async () =>
      (await line(metrics, 'longshore_ingest_connected'))?.endsWith(' 0'),
    );
    await rabbit.makeQueue('stopped');
    await rabbit.send('stopped', [{ body: 1, messageId: 'a' }]);
    await stored(1);
    await ingester.stop();
    await rabbit.send('stopped', [{ body: 2, messageId: 'b' }]);
    expect(await rabbit.ready('stopped')).toBe(1);
    await ingester.start();
    await stored(2);
  });

  it('without an id become jobs, and are counted', async () => {
    await rabbit.makeQueue('nameless');
    const { metrics } = await start('nameless', { definitionKey: 'a' });
    await rabbit.send('nameless', [{ body: 1 }, { body: 1 }]);
    await stored(2);
    expect(await line(metrics, 'longshore_ingest_without_id_total')).toMatch(/ 2$/);
  });
});
