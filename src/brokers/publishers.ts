import { brokerKind, parseBrokers } from '../core/broker/broker-url.ts';
import { AmqpPublisher } from './amqp/amqp-publisher.ts';
import { kafkaAddress } from './kafka/kafka-client.ts';
import { KafkaPublisher } from './kafka/kafka-publisher.ts';
import type { Publication, Publisher } from './publisher.ts';

/** The brokers that this process publishes to, by name; connected when first used. */
export class Publishers {
  readonly #byName: ReadonlyMap<string, Publisher>;

  /** From the setting; brokers with an exchange or a topic in their URL are published to. */
  constructor(setting: string | null = null) {
    const brokers = parseBrokers(setting ?? '') ?? new Map<string, string>();
    const made = [...brokers].flatMap(([name, url]) => {
      const publisher = publisherOf(url);
      return publisher === null ? [] : [[name, publisher] as const];
    });
    this.#byName = new Map(made);
  }

  get names(): string[] {
    return [...this.#byName.keys()];
  }

  /** Resolves when the broker has confirmed that it has the message. */
  async publish(name: string, message: Publication): Promise<void> {
    const publisher = this.#byName.get(name);
    if (!publisher) throw new UnknownBroker(name);
    await publisher.publish(message);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map(async (one) => await one.close()));
  }
}

export class UnknownBroker extends Error {
  override name = 'UnknownBroker';

  constructor(name: string) {
    super(`LONGSHORE_BROKERS of this worker has no broker ${name} with an exchange or a topic`);
  }
}

function publisherOf(url: string): Publisher | null {
  if (brokerKind(url) === 'kafka') {
    const { topic } = kafkaAddress(url);
    return topic === null ? null : new KafkaPublisher(url, topic);
  }
  const exchange = new URL(url).searchParams.get('exchange');
  return exchange === null ? null : new AmqpPublisher(url, exchange);
}
