import type { ChannelModel } from 'amqplib';
import { withDeadline } from '../../runtime/deadline.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';

/** An optional dependency, loaded only when needed. */
const loadPackage = async () => await import('amqplib');
export type Amqp = Awaited<ReturnType<typeof loadPackage>>;

const CONNECT_MS = 10_000;
const CLOSE_MS = 5_000;
/** Finds a broker that vanished without closing its connections. */
const HEARTBEAT_SECONDS = '20';

export async function loadAmqp(load = loadPackage): Promise<Amqp> {
  return await load().catch((error: unknown) => {
    const words =
      'the package "amqplib", which connects to RabbitMQ, cannot be loaded: ' +
      'run "npm install amqplib"';
    throw new StartRefusal('configuration', words, { cause: error });
  });
}

/** `name` is what the broker shows of the connection. */
export async function connectAmqp(amqp: Amqp, url: string, name: string): Promise<ChannelModel> {
  const address = new URL(url);
  address.searchParams.delete('exchange');
  if (!address.searchParams.has('heartbeat')) {
    address.searchParams.set('heartbeat', HEARTBEAT_SECONDS);
  }
  const clientProperties = { connection_name: `longshore ${name}` };
  const options = { timeout: CONNECT_MS, noDelay: true, keepAlive: true, clientProperties };
  const connection = await withDeadline(
    amqp.connect(address.href, options),
    2 * CONNECT_MS,
    'the connection to the broker',
  );
  // An error ends the connection, which its user hears of by `close`.
  connection.on('error', () => undefined);
  return connection;
}

/** Closes what may be closed already, or may not answer. */
export async function closeAmqp(open: { close(): Promise<void> }): Promise<void> {
  const closing = (async () => await open.close())();
  await withDeadline(closing, CLOSE_MS, 'closing the connection').catch(() => undefined);
}
