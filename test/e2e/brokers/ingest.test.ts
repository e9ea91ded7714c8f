import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedFixture, query } from '../../support/servers/embedded-fixture.ts';
import { endAll, launch, run, type Running } from '../../support/processes.ts';
import { hasRabbit, TestRabbit } from '../../support/servers/rabbit.ts';
import type { EmbeddedPostgres } from '../../../src/postgres/embedded.ts';
import { until } from '../../support/until.ts';

/** Whatever is killed, each message becomes one job. */

let cluster: EmbeddedFixture;
let postgres: EmbeddedPostgres;
let rabbit: TestRabbit;

beforeAll(async () => {
  if (!hasRabbit) return;
  cluster = await EmbeddedFixture.create();
  postgres = cluster.server();
  await postgres.start();
  rabbit = await TestRabbit.start();
});
afterEach(async () => await endAll());
afterAll(async () => {
  if (!hasRabbit) return;
  await rabbit.remove();
  await cluster.remove();
});

const ingest = async (queue: string, ...more: string[]): Promise<Running> =>
  await launch('ingest', {
    env: { DATABASE_URL: postgres.url, LONGSHORE_BROKERS: `rabbit=${rabbit.url}` },
    args: ['--from', 'rabbit', '--queue', queue, '--definition', queue, ...more],
  });

const counts = async (queue: string) => {
  const [row] = await query(
    postgres.url,
    `select count(*)::int as jobs, count(distinct params->>'order')::int as orders
     from longshore.job join longshore.queue using (shard, queue) where key = '${queue}'`,
  );
  return { jobs: Number(row?.['jobs']), orders: Number(row?.['orders']) };
};
const jobsOf = async (queue: string) => (await counts(queue)).jobs;

const messages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({
    body: { order: from + at },
    messageId: `m-${from + at}`,
  }));

/** Every order once: none lost, none doubled. */
const expectEach = async (queue: string, total: number) =>
  expect(await counts(queue)).toEqual({ jobs: total, orders: total });

describe.skipIf(!hasRabbit)('longshore ingest (needs rabbitmq-server)', () => {
  it('loses and doubles nothing when it is killed, drained and sent the same messages twice', async () => {
    const total = 4_000;
    await rabbit.makeQueue('killed');
    await rabbit.send('killed', messages(0, total));
    let one = await ingest('killed', '--prefetch', '100', '--batch', '20');
    for (const enough of [200, 800, 1_600]) {
      await until('some are stored', async () => (await jobsOf('killed')) >= enough);
      one.signal('SIGKILL');
      await one.exited;
      one = await ingest('killed', '--prefetch', '100', '--batch', '20');
    }
    await until('more are stored', async () => (await jobsOf('killed')) >= 2_000);
    one.signal('SIGTERM');
    expect(await one.exited).toMatchObject({ code: 0 });
    // A producer that did not see its confirmation sends again.
    await rabbit.send('killed', messages(total - 500, total));
    one = await ingest('killed');
    await until('all are stored', async () => (await jobsOf('killed')) >= total);
    await until('all are acknowledged', async () => {
      if ((await rabbit.ready('killed')) > 0) return false;
      one.signal('SIGTERM');
      await one.exited;
      // What it held and had not acknowledged is in the queue again.
      const done = (await rabbit.ready('killed')) === 0;
      if (!done) one = await ingest('killed');
      return done;
    });
    await expectEach('killed', total);
    expect(await rabbit.ready('killed.dead')).toBe(0);
  });

  it('takes no more than its prefetch while the database is away, and goes on when it is back', async () => {
    await rabbit.makeQueue('outage');
    await rabbit.send('outage', messages(0, 10));
    const one = await ingest('outage', '--prefetch', '50');
    await until('it works', async () => (await jobsOf('outage')) === 10);
    await postgres.stop();
    await rabbit.send('outage', messages(10, 500));
    await until('it waits', () => one.stderr().includes('waiting: nothing is taken'));
    await until('the rest stays', async () => (await rabbit.ready('outage')) === 490 - 50);
    await postgres.start();
    await until('all are stored', async () => (await jobsOf('outage')) === 500);
    await expectEach('outage', 500);
    expect(one.stderr()).not.toContain('lost the broker');
  });

  it('connects again when the broker is killed', async () => {
    await rabbit.makeQueue('restart');
    await rabbit.send('restart', messages(0, 500));
    const one = await ingest('restart', '--prefetch', '10');
    await until('some are stored', async () => (await jobsOf('restart')) > 50);
    await rabbit.restart();
    await until('it has noticed', () => one.stderr().includes('lost the broker'));
    await rabbit.send('restart', messages(500, 600));
    await until('all are stored', async () => (await jobsOf('restart')) === 600);
    await until('all are acknowledged', async () => (await rabbit.ready('restart')) === 0);
    await expectEach('restart', 600);
  });

  it('refuses what cannot work', async () => {
    const env = { DATABASE_URL: postgres.url };
    const refuse = async (...args: string[]) => {
      const { code, stderr } = await run(['ingest', '--queue', 'a', ...args], { env });
      expect(code).toBe(2);
      return stderr;
    };
    expect(await refuse('--from', 'rabbit')).toContain('unknown broker "rabbit"');
    expect(await refuse('--from', 'amqp://me:secret@mq')).toContain('LONGSHORE_BROKERS');
    expect(await refuse('--from', 'http://mq')).toContain('amqp://');
    expect(await refuse('--from', rabbit.url, '--prefetch', '0')).toContain('--prefetch');
    expect(await refuse('--from', rabbit.url, '--tenant', 'unknown')).toContain('no tenant');
  });
});
