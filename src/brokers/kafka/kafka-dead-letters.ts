import type { Producer } from '@platformatic/kafka';
import { reasonHeaders } from '../reason-headers.ts';
import type { Refused } from '../source.ts';
import { closeKafka } from './kafka-client.ts';
import type { KafkaMessage } from './kafka-session.ts';

/** Copies poison messages to a topic, with their reason, and waits until all replicas have them. */
export class KafkaDeadLetters {
  readonly #producer: Producer;
  readonly #topics: { from: string; to: string };

  constructor(producer: Producer, topics: { from: string; to: string }) {
    this.#producer = producer;
    this.#topics = topics;
  }

  async send(message: KafkaMessage, why: Refused): Promise<void> {
    const { from, to } = this.#topics;
    const { key, value, headerEntries } = message.raw;
    const reasons = Object.entries(reasonHeaders(from, why, message.position));
    const headers = new Map(headerEntries);
    for (const [name, text] of reasons) headers.set(Buffer.from(name), Buffer.from(text));
    // Not in the partition of the original: the topics may have different numbers of them.
    await this.#producer.send({ messages: [{ topic: to, key, value, headers }] });
  }

  async close(): Promise<void> {
    await closeKafka(async () => await this.#producer.close(true));
  }
}
