import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedPostgres } from '../../../src/postgres/embedded.ts';
import { endAll, launch, type Running } from '../../support/processes.ts';
import { EmbeddedFixture, query } from '../../support/servers/embedded-fixture.ts';
import { hasKafka, TestKafka } from '../../support/servers/kafka/test-kafka.ts';
import { until } from '../../support/until.ts';

/** Whatever is killed or goes away, each message becomes one job. */

let cluster: EmbeddedFixture;
let postgres: EmbeddedPostgres;
let kafka: TestKafka;

beforeAll(async () => {
  if (!hasKafka) return;
  cluster = await EmbeddedFixture.create();
  postgres = cluster.server();
  await postgres.start();
  kafka = await TestKafka.start();
});
afterEach(async () => await endAll());
afterAll(async () => {
  if (!hasKafka) return;
  await kafka.remove();
  await cluster.remove();
});

const PARTITIONS = 4;

const ingest = async (topic: string, ...more: string[]): Promise<Running> =>
  await launch('ingest', {
    env: { DATABASE_URL: postgres.url, LONGSHORE_BROKERS: `events=${kafka.url}` },
    args: ['--from', 'events', '--topic', topic, '--definition', topic, '--group', topic, ...more],
  });

const counts = async (topic: string) => {
  const [row] = await query(
    postgres.url,
    `select count(*)::int as jobs, count(distinct params->>'order')::int as orders
     from longshore.job join longshore.queue using (shard, queue) where key = '${topic}'`,
  );
  return { jobs: Number(row?.['jobs']), orders: Number(row?.['orders']) };
};
const stored = async (topic: string, wanted: number) =>
  await until(`${wanted} are stored`, async () => (await counts(topic)).jobs >= wanted);
const committed = async (topic: string, wanted: number) =>
  await until(
    `${wanted} are committed`,
    async () => (await kafka.committed(topic, topic, PARTITIONS)) === wanted,
  );

const send = async (topic: string, from: number, to: number) =>
  await kafka.send(
    topic,
    Array.from({ length: to - from }, (_, at) => ({ body: { order: from + at } })),
  );

/** Every order once: none lost, none doubled. */
const expectEach = async (topic: string, total: number) =>
  expect(await counts(topic)).toEqual({ jobs: total, orders: total });

describe.skipIf(!hasKafka)('longshore ingest from Kafka (needs kcat and python3)', () => {
  it('loses and doubles nothing when members of its group, the database and the broker go and come', async () => {
    const total = 3_000;
    await kafka.makeTopic('killed', PARTITIONS);
    await send('killed', 0, total);
    const small = ['--prefetch', '100', '--batch', '20'];
    const [one, two] = await Promise.all([ingest('killed', ...small), ingest('killed', ...small)]);
    await stored('killed', 300);
    one.signal('SIGKILL');
    await one.exited;
    const three = await ingest('killed', ...small);
    await stored('killed', 1_000);
    await postgres.stop();
    // In all partitions, so that every member of the group must wait.
    await send('killed', total, total + 500);
    const waits = ({ stderr }: Running) => stderr().includes('waiting: nothing is taken');
    await until('it waits', () => waits(two) || waits(three));
    two.signal('SIGKILL');
    await two.exited;
    await postgres.start();
    await stored('killed', 1_500);
    await kafka.goAway();
    await until('it has noticed', () => three.stderr().includes('ECONNREFUSED'));
    await kafka.comeBack();
    await send('killed', total + 500, total + 600);
    await committed('killed', total + 600);
    await expectEach('killed', total + 600);
    expect(await kafka.readAll('killed.dead')).toEqual([]);
    three.signal('SIGTERM');
    expect(await three.exited).toMatchObject({ code: 0 });
  });
});
