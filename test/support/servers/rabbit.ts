import { type ChannelModel, connect, type ConfirmChannel, type Options } from 'amqplib';
import { findFreePort } from '../../../src/postgres/free-port.ts';
import { EXTRAS, isInstalled } from '../checks/extras.ts';
import { until } from '../until.ts';
import { SideServer } from './side-server.ts';

export const hasRabbit = isInstalled('rabbitmq-server');

/** Registers the names of Erlang's nodes. RabbitMQ would leave one of its own behind. */
const EPMD = '/usr/bin/epmd';

/** Erlang loads for seconds, and much longer on a busy machine. */
const START_MS = 110_000;

/** A RabbitMQ that keeps durable queues and persistent messages over a restart. */
export class TestRabbit {
  readonly server: SideServer;
  readonly url: string;
  readonly #epmd: SideServer;
  #connection: ChannelModel | undefined;

  private constructor(server: SideServer, epmd: SideServer) {
    this.server = server;
    this.#epmd = epmd;
    this.url = `amqp://127.0.0.1:${server.port}`;
  }

  static async start(): Promise<TestRabbit> {
    const epmd = await SideServer.create(EPMD, (_folder, port) => ({
      args: ['-port', `${port}`, '-address', '127.0.0.1'],
    }));
    await epmd.start();
    const server = await SideServer.create(EXTRAS['rabbitmq-server'], async (folder, port) => ({
      args: [],
      files: { enabled_plugins: '[].' },
      env: {
        HOME: folder,
        ERL_EPMD_PORT: `${epmd.port}`,
        ERL_EPMD_ADDRESS: '127.0.0.1',
        // The script becomes the broker, instead of its parent: a signal reaches the broker.
        RUNNING_UNDER_SYSTEMD: 'true',
        RABBITMQ_NODENAME: `test-${port}@localhost`,
        RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
        RABBITMQ_NODE_PORT: `${port}`,
        // Other nodes of Erlang would connect here.
        RABBITMQ_DIST_PORT: `${await findFreePort(port + 1)}`,
        RABBITMQ_MNESIA_BASE: `${folder}/mnesia`,
        RABBITMQ_LOG_BASE: `${folder}/log`,
        RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/enabled_plugins`,
        RABBITMQ_CONFIG_FILE: `${folder}/none`,
        RABBITMQ_CONF_ENV_FILE: `${folder}/none`,
        // Idle schedulers of Erlang otherwise spin, and there are two cores for all tests.
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none',
      },
    }));
    const rabbit = new TestRabbit(server, epmd);
    await server.start(START_MS).catch(async (error: unknown) => {
      await rabbit.remove();
      throw error;
    });
    return rabbit;
  }

  /** As a crash does, and back with the same data. */
  async restart(): Promise<void> {
    await this.server.kill();
    this.#connection = undefined;
    await this.server.start(START_MS);
  }

  async channel(): Promise<ConfirmChannel> {
    this.#connection ??= await until('RabbitMQ accepts connections', async () => {
      const connection = await connect(this.url).catch(() => null);
      connection?.on('error', () => undefined);
      return connection;
    });
    const channel = await this.#connection.createConfirmChannel();
    channel.on('error', () => undefined);
    return channel;
  }

  async makeQueue(name: string, options: Options.AssertQueue = {}): Promise<void> {
    const channel = await this.channel();
    await channel.assertQueue(name, { durable: true, ...options });
    await channel.close();
  }

  /** Sends and waits until the broker has them all. */
  async send(queue: string, messages: readonly TestMessage[]): Promise<void> {
    const channel = await this.channel();
    for (const { body, ...properties } of messages) {
      const text = typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body);
      channel.sendToQueue(queue, Buffer.from(text), { persistent: true, ...properties });
    }
    await channel.waitForConfirms();
    await channel.close();
  }

  /** Messages that wait in a queue; not those that a consumer holds. 0 where there is no queue. */
  async ready(queue: string): Promise<number> {
    const channel = await this.channel();
    // A queue that does not exist closes the channel.
    const found = await channel.checkQueue(queue).catch(() => null);
    if (found) await channel.close();
    return found?.messageCount ?? 0;
  }

  /** Takes what waits in a queue. */
  async takeAll(queue: string): Promise<TakenMessage[]> {
    const channel = await this.channel();
    const taken: TakenMessage[] = [];
    for (;;) {
      const message = await channel.get(queue, { noAck: true });
      if (!message) break;
      const { headers, messageId } = message.properties;
      taken.push({
        body: message.content.toString(),
        headers: headers ?? {},
        messageId: messageId as string | undefined,
        routingKey: message.fields.routingKey,
      });
    }
    await channel.close();
    return taken;
  }

  async remove(): Promise<void> {
    await this.server.remove();
    await this.#epmd.remove();
  }
}

export interface TestMessage extends Options.Publish {
  body: unknown;
}

export interface TakenMessage {
  body: string;
  headers: Record<string, unknown>;
  messageId: string | undefined;
  routingKey: string;
}
