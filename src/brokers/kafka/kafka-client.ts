import type { Base, BaseOptions, ConnectionPoolEventPayload } from '@platformatic/kafka';
import { type KafkaAddress, readKafkaUrl } from '../../core/broker/kafka-url.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';

/** An optional dependency, loaded only when needed. */
const loadPackage = async () => await import('@platformatic/kafka');
export type Kafka = Awaited<ReturnType<typeof loadPackage>>;

const CONNECT_MS = 10_000;
const CLOSE_MS = 5_000;
/** Longer outages end the session or the send; its user tries again. */
const RETRIES = 3;
const RETRY_DELAY_MS = 250;

export async function loadKafka(load = loadPackage): Promise<Kafka> {
  return await load().catch((error: unknown) => {
    const words =
      'the package "@platformatic/kafka", which connects to Kafka, cannot be loaded: ' +
      'run "npm install @platformatic/kafka"';
    throw new StartRefusal('configuration', words, { cause: error });
  });
}

/** The setting was checked before. */
export function kafkaAddress(url: string): KafkaAddress {
  const address = readKafkaUrl(url);
  if (typeof address === 'string') throw new StartRefusal('configuration', address);
  return address;
}

/** `name` is what the broker shows of the client. */
export function clientOptions({ brokers, tls, sasl }: KafkaAddress, name: string): BaseOptions {
  // TLS names the server by its host name, never by an address.
  const tlsServerName = brokers.every(({ host }) => /[a-z]/i.test(host) && !host.includes(':'));
  return {
    clientId: `longshore-${name}`,
    bootstrapBrokers: brokers,
    connectTimeout: CONNECT_MS,
    retries: RETRIES,
    retryDelay: RETRY_DELAY_MS,
    ...(tls ? { tls: {}, tlsServerName } : {}),
    ...(sasl === null ? {} : { sasl }),
  };
}

/**
 * The client listens to the first error of a connection, and a second one would end the process. It
 * also leaves a connection open that the broker did not let in.
 */
export function guarded<Client extends Pick<Base, 'on'>>(client: Client): Client {
  const ignore = ({ connection }: ConnectionPoolEventPayload) =>
    connection.on('error', () => undefined);
  client.on('client:broker:connect', ignore);
  client.on('client:broker:failed', (payload) => {
    ignore(payload).socket.destroy();
  });
  return client;
}

/** The innermost error: the client wraps those of its tries, brokers and answers. */
export function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : undefined;
  const inner = first ?? error.cause;
  return inner instanceof Error ? plainError(inner) : error;
}

/** Closes what may be closed already, or may not answer. */
export async function closeKafka(close: () => Promise<void>): Promise<void> {
  await withDeadline(close(), CLOSE_MS, 'closing the connection').catch(() => undefined);
}
