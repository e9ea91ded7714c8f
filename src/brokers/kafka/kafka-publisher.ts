import type { Producer } from '@platformatic/kafka';
import type { Publication, Publisher } from '../publisher.ts';
import {
  clientOptions,
  closeKafka,
  guarded,
  kafkaAddress,
  loadKafka,
  plainError,
} from './kafka-client.ts';

/** Publishes to a topic, and waits until all replicas in sync have a message. */
export class KafkaPublisher implements Publisher {
  readonly #url: string;
  readonly #topic: string;
  #producer: Promise<Producer> | undefined;

  constructor(url: string, topic: string) {
    this.#url = url;
    this.#topic = topic;
  }

  /** Events of a job have the same key, so they are in the same partition. */
  async publish(message: Publication): Promise<void> {
    const { id, subject, routingKey, type, contentType, body } = message;
    const producer = await (this.#producer ??= this.#open());
    const headers = new Map(
      Object.entries({
        ...message.headers,
        'message-id': id,
        'content-type': contentType,
        type,
        'routing-key': routingKey,
      }).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
    );
    const key = Buffer.from(subject);
    const value = Buffer.from(body);
    const messages = [{ topic: this.#topic, key, value, headers }];
    await producer.send({ messages }).catch((error: unknown) => {
      throw plainError(error);
    });
  }

  async close(): Promise<void> {
    const producer = await this.#producer?.catch(() => undefined);
    this.#producer = undefined;
    if (producer) await closeKafka(async () => await producer.close(true));
  }

  /** It connects when it sends, and again after an outage. */
  async #open(): Promise<Producer> {
    const { Producer, ProduceAcks } = await loadKafka();
    const options = clientOptions(kafkaAddress(this.#url), 'events');
    const producer = guarded(new Producer({ ...options, acks: ProduceAcks.ALL }));
    producer.on('error', () => undefined);
    return producer;
  }
}
