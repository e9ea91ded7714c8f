import { execFile } from 'node:child_process';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { KafkaSource } from '../../../src/brokers/kafka/kafka-source.ts';
import { Publishers } from '../../../src/brokers/publishers.ts';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { inspectBrokers } from '../../../src/doctor/facts/brokers.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { Quotas } from '../../../src/enqueue/quotas.ts';
import { Ingester } from '../../../src/ingest/ingester.ts';
import type { Mapping } from '../../../src/ingest/read-message.ts';
import { IngestMetrics } from '../../../src/metrics/ingest-metrics.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { hasKafka, TestKafka } from '../../support/servers/kafka/test-kafka.ts';
import { until } from '../../support/until.ts';

const database = databasePerTest();
let kafka: TestKafka;

beforeAll(async () => {
  if (hasKafka) kafka = await TestKafka.start();
});
afterAll(async () => {
  if (hasKafka) await kafka.remove();
});

interface Options extends Partial<Mapping> {
  prefetch?: number;
  enqueuer?: Enqueuer;
}

async function start(topic: string, options: Options = {}) {
  const { prefetch = 100 } = options;
  const metrics = new IngestMetrics(topic);
  const source = { url: kafka.url, topic, group: topic, prefetch };
  const ingester = new Ingester({
    source: new KafkaSource({ ...source, deadLetterTopic: `${topic}.dead` }),
    mapping: {
      tenant: 'default',
      source: topic,
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
  await database.sql<{ params: unknown; idempotencyKey: string; traceparent: string | null }>(
    `select params, idempotency_key as "idempotencyKey", traceparent from longshore.job order by id`,
  );
const stored = async (wanted: number) =>
  await until(`${wanted} are stored`, async () => (await jobs()).length === wanted);
const committed = async (topic: string, wanted: number) =>
  await until(
    `${wanted} are committed`,
    async () => (await kafka.committed(topic, topic)) === wanted,
  );
const valueOf = async (metrics: IngestMetrics, name: string) => {
  const line = (await metrics.text()).split('\n').find((text) => text.startsWith(name));
  return Number(line?.split(' ').at(-1));
};

describe.skipIf(!hasKafka)('messages of Kafka (need kcat and python3)', () => {
  it('become jobs, each once, and poison messages go to a topic with their reason', async () => {
    const properties = { order: { type: 'integer' } };
    const paramsSchema = { type: 'object', properties };
    await publishDefinitions(database.db, [definitionInfo({ key: 'strict' }, { paramsSchema })]);
    // The topic is created later.
    const { ingester, metrics } = await start('orders', {
      definitionKey: 'strict',
      idHeader: 'order-id',
    });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await kafka.makeTopic('orders');
    await kafka.send('orders', [
      { body: { order: 1 }, headers: { 'order-id': 'o-1', traceparent } },
      { body: '{', key: 'the key', headers: { own: 'kept' } },
      { body: { order: 'text' } },
      { body: { order: 1 }, headers: { 'order-id': 'o-1' } },
      { body: { order: 2 }, headers: { 'order-id': 'o-1' } },
      { body: Buffer.alloc(1_048_577, ' ') },
      { body: { order: 3 } },
    ]);
    await committed('orders', 7);
    expect(await jobs()).toEqual([
      { params: { order: 1 }, idempotencyKey: 'orders:o-1', traceparent },
      // A message without an id has its partition and offset.
      { params: { order: 3 }, idempotencyKey: 'orders:0:6', traceparent: null },
    ]);
    const dead = await kafka.readAll('orders.dead');
    const told = dead.map(({ headers }) => [
      headers['x-longshore-position'],
      headers['x-longshore-reason'],
    ]);
    expect(Object.fromEntries(told)).toEqual({
      '0:1': 'INVALID_JSON',
      '0:2': 'PAYLOAD_INVALID',
      '0:4': 'IDEMPOTENCY_CONFLICT',
      '0:5': 'PAYLOAD_TOO_LARGE',
    });
    const first = dead.find(({ body }) => body === '{');
    const headers = { own: 'kept', 'x-longshore-source': 'orders' };
    expect(first).toMatchObject({ key: 'the key', headers });
    expect(first?.headers['x-longshore-detail']).toContain('not JSON');
    const count = async (outcome: string) =>
      await valueOf(
        metrics,
        `longshore_ingest_messages_total{source="orders",outcome="${outcome}"}`,
      );
    expect(await count('stored')).toBe(2);
    expect(await count('duplicate')).toBe(1);
    expect(await count('dead-lettered')).toBe(4);
    expect(await valueOf(metrics, 'longshore_ingest_without_id_total')).toBe(0);
    expect(await valueOf(metrics, 'longshore_ingest_connected')).toBe(1);
    await ingester.stop();
    expect(await valueOf(metrics, 'longshore_ingest_connected')).toBe(0);
  });

  it('wait while the quota of the tenant is reached, and few of them are held', async () => {
    await kafka.makeTopic('quota');
    const limits = { tenantQueuedMax: 5, tenantQueuedBytesMax: 0 };
    const others = { tenantSchedulesMax: 0, tenantWebhooksMax: 0 };
    const { db, waker } = database;
    const quotas = new Quotas(db, systemClock, { ...limits, ...others });
    const enqueuer = new Enqueuer(db, waker, systemClock, quotas);
    // Each request is a batch of the topic; the broker sends whole batches.
    for (let at = 0; at < 30; at += 1) await kafka.send('quota', [{ body: { at } }]);
    const { metrics } = await start('quota', { enqueuer, prefetch: 2, definitionKey: 'held' });
    await stored(5);
    const waits = 'longshore_ingest_waits_total{source="quota",reason="quota"}';
    await until('it has waited often', async () => (await valueOf(metrics, waits)) >= 4);
    // Two that are being stored, two that wait, and the answer to one fetch.
    const held = await valueOf(metrics, 'longshore_ingest_unsettled_messages');
    expect(held).toBeLessThanOrEqual(5);
    expect(await kafka.committed('quota', 'quota')).toBeLessThanOrEqual(5);
    await database.sql(`with gone as (delete from longshore.waiting returning id)
      delete from longshore.job where id in (select id from gone)`);
    await until('it goes on', async () => (await kafka.committed('quota', 'quota')) > 5);
  });
});

/** For localhost, signed by itself. */
async function makeCertificate(): Promise<{ cert: string; key: string }> {
  const type = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1';
  const names = '-subj /CN=localhost -addext subjectAltName=DNS:localhost';
  const args = `req -x509 ${type} ${names} -keyout -`.split(' ');
  const { stdout } = await promisify(execFile)('openssl', args);
  const [key = ''] = /-----BEGIN PRIV.*-----END PRIVATE KEY-----\n/s.exec(stdout) ?? [];
  const [cert = ''] = /-----BEGIN CERT.*-----END CERTIFICATE-----\n/s.exec(stdout) ?? [];
  return { cert, key };
}

const message = (id: string) => ({
  id,
  subject: 'job-17',
  routingKey: 'job.failed.report',
  type: 'dev.longshore.job.failed',
  contentType: 'application/cloudevents+json',
  headers: { 'webhook-id': id },
  body: '{}',
});

describe.skipIf(!hasKafka)('a publisher to Kafka (needs kcat and python3)', () => {
  it('sends with headers, and again after the broker was away', async () => {
    await kafka.makeTopic('events');
    const publishers = new Publishers(`events=${kafka.url}&topic=events,other=${kafka.url}`);
    onTestFinished(async () => await publishers.close());
    expect(publishers.names).toEqual(['events']);
    await publishers.publish('events', message('a'));
    await kafka.goAway();
    await expect(publishers.publish('events', message('b'))).rejects.toThrow();
    await kafka.comeBack();
    await publishers.publish('events', message('c'));
    const found = await kafka.readAll('events');
    expect(found.map(({ headers }) => headers['message-id'])).toEqual(['a', 'c']);
    expect(found[0]).toMatchObject({
      key: 'job-17',
      body: '{}',
      headers: {
        'webhook-id': 'a',
        'content-type': 'application/cloudevents+json',
        type: 'dev.longshore.job.failed',
        'routing-key': 'job.failed.report',
      },
    });
  });

  it('uses TLS, and the user of its URL', async () => {
    const { cert, key } = await makeCertificate();
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, cert]);
    await kafka.makeTopic('secured');
    const user = { name: 'me', password: 'a,b@c' };
    const another = await kafka.openAnother({ tls: { cert, key }, user });
    onTestFinished(async () => {
      await another.close();
      setDefaultCACertificates(before);
    });
    const look = async (scheme: string, password: string) => {
      const url = `${scheme}://me:${password}@localhost:${another.port}?topic=secured`;
      const [found] = await inspectBrokers(`events=${url}`);
      return found?.trouble;
    };
    expect(await look('kafkas', 'a,b%40c')).toBeNull();
    expect(await look('kafkas', 'wrong')).toMatch(/authentication failed/i);
    expect(await look('kafka', 'a,b%40c')).not.toBeNull();
    setDefaultCACertificates(before);
    expect(await look('kafkas', 'a,b%40c')).toMatch(/self-signed/);
  });

  it('is looked at by the doctor, with its topic', async () => {
    await kafka.makeTopic('looked');
    const look = async (topic: string) =>
      await inspectBrokers(`events=${kafka.url}&topic=${topic}`);
    expect(await look('looked')).toEqual([{ name: 'events', trouble: null }]);
    expect(await look('missing')).toEqual([{ name: 'events', trouble: 'Unknown topic missing.' }]);
    const [away] = await inspectBrokers('away=kafka://me:secret@127.0.0.1:9');
    expect(away?.trouble).toContain('127.0.0.1:9');
    expect(away?.trouble).not.toContain('secret');
  });
});
