import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startJob } from '../../support/api.ts';
import { blocksOf, commandsIn } from '../../support/checks/docs-blocks.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { endAll, FIXTURES, launch, run } from '../../support/processes.ts';
import { hasKafka, TestKafka } from '../../support/servers/kafka/test-kafka.ts';
import { hasRabbit, TestRabbit } from '../../support/servers/rabbit.ts';
import { until } from '../../support/until.ts';

/** The blocks of docs/message-brokers.md, in the order of a reader. */
const PAGE = 'docs/message-brokers.md';
// Inside the checkout, so that packages resolve as they do for a user.
const FOLDER = fileURLToPath(new URL('../../../tmp/message-brokers/', import.meta.url));

const database = sharedDatabase();
afterAll(async () => await endAll());

const jobs = async () =>
  await database.sql<{ key: string; params: unknown; delayed: boolean }>(
    `select key, params, w.state = 'scheduled' as delayed from longshore.job j
     join longshore.queue q using (shard, queue) join longshore.waiting w using (shard, id)
     where key = 'order.ship' order by id`,
  );

/** The commands and the producer of the page for one broker, whose address is `here` in the tests. */
function pageFor(word: string, there: string, here: string) {
  // An address of the tests may have parameters.
  const translate = (text: string) => text.replaceAll(there, here).replace(/(\?.*)\?/, '$1&');
  const commands = blocksOf(PAGE, 'sh')
    .filter(({ text }) => text.includes(word))
    .flatMap(commandsIn);
  const find = (name: string) => {
    const found = commands.find(({ args }) => args[0] === name);
    if (!found) throw new Error(`${PAGE} has no longshore ${name} with ${word}`);
    const LONGSHORE_BROKERS = translate(found.env['LONGSHORE_BROKERS'] ?? '');
    const DATABASE_URL = database.url;
    const LONGSHORE_JOBS = join(FIXTURES, 'jobs');
    const env = { DATABASE_URL, LONGSHORE_JOBS, LONGSHORE_BROKERS };
    return { args: found.args.slice(1), env };
  };
  const produce = async () => {
    const block = blocksOf(PAGE, 'ts').find(({ text }) => text.includes(word));
    await mkdir(FOLDER, { recursive: true });
    const file = join(FOLDER, `${word}-producer.ts`);
    const hostOf = (url: string) => url.replace(/^kafka:\/\//, '').replace(/\?.*$/, '');
    await writeFile(file, (block?.text ?? '').replaceAll(hostOf(there), hostOf(here)));
    await promisify(execFile)(process.execPath, [file]);
  };
  /** A server as on the page, and an event of a job that has ended. */
  const publish = async () => {
    const { address } = (await launch('start', find('start'))).summary;
    const { args } = find('webhooks');
    const made = await run(['webhooks', ...args], { env: { LONGSHORE_URL: address } });
    expect(made).toMatchObject({ code: 0 });
    return await startJob(address, 'echo');
  };
  return { find, produce, publish };
}

afterAll(async () => await rm(FOLDER, { recursive: true, force: true }));

describe(PAGE, () => {
  it.skipIf(!hasRabbit)('works as it is written with RabbitMQ', async () => {
    const rabbit = await TestRabbit.start();
    onTestFinished(async () => {
      await endAll();
      await rabbit.remove();
    });
    const { find, produce, publish } = pageFor('amqp', 'amqp://127.0.0.1', rabbit.url);
    await produce();
    await launch('ingest', find('ingest'));
    await until('the message is a job', async () => (await jobs()).length === 1);

    await rabbit.makeQueue('bodies');
    const [body] = blocksOf(PAGE, 'json');
    await rabbit.send('bodies', [{ body: body?.text, messageId: 'body-17' }]);
    const { env } = find('ingest');
    await launch('ingest', { env, args: ['--from', 'rabbit', '--queue', 'bodies'] });
    await until('the body is a job', async () => (await jobs()).length === 2);
    expect(await jobs()).toEqual([
      { key: 'order.ship', params: { order: 17 }, delayed: false },
      { key: 'order.ship', params: { order: 17 }, delayed: true },
    ]);

    await rabbit.makeQueue('finished');
    const channel = await rabbit.channel();
    await channel.bindQueue('finished', 'amq.topic', 'job.finished.#');
    const id = await publish();
    await until('the event is published', async () => (await rabbit.ready('finished')) > 0);
    const [event] = await rabbit.takeAll('finished');
    expect(event?.routingKey).toBe('job.finished.echo');
    expect(JSON.parse(event?.body ?? '')).toMatchObject({
      type: 'dev.longshore.job.finished',
      subject: id,
    });
  });

  it.skipIf(!hasKafka)('works as it is written with Kafka', async () => {
    const kafka = await TestKafka.start();
    onTestFinished(async () => {
      await endAll();
      await kafka.remove();
    });
    const before = (await jobs()).length;
    const { find, produce, publish } = pageFor('kafka', 'kafka://127.0.0.1:9092', kafka.url);
    await kafka.makeTopic('orders');
    await produce();
    await launch('ingest', find('ingest'));
    await until('the message is a job', async () => (await jobs()).length === before + 1);

    await kafka.makeTopic('job-events');
    const id = await publish();
    const events = await until('the events are published', async () => {
      const found = await kafka.readAll('job-events');
      return found.length >= 2 && found;
    });
    expect(events.map(({ key }) => key)).toEqual([id, id]);
    const routingKeys = new Set(events.map(({ headers }) => headers['routing-key']));
    expect(routingKeys).toEqual(new Set(['job.finished.echo', 'job.started.echo']));
  });
});
