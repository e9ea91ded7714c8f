import type { Consumer, Message as Raw, MessagesStream } from '@platformatic/kafka';
import { withDeadline } from '../../runtime/deadline.ts';
import { Bell } from '../bell.ts';
import type { Message, Refused, Session } from '../source.ts';
import { closeKafka } from './kafka-client.ts';
import type { KafkaDeadLetters } from './kafka-dead-letters.ts';

export interface KafkaMessage extends Message {
  raw: Raw;
  position: string;
}

type Stream = MessagesStream<Buffer, Buffer, Buffer, Buffer>;

const COMMIT_MS = 120_000;

/**
 * A member of a consumer group. Messages of a partition are taken in the order of their offsets and
 * none is skipped, so the offset after the last stored one can be committed, also when the partition
 * has gone to another member meanwhile: that member gets some messages again.
 */
export class KafkaSession implements Session {
  readonly #consumer: Consumer;
  readonly #stream: Stream;
  readonly #deadLetters: KafkaDeadLetters;
  readonly #bell = new Bell();
  #taken = 0;
  #open = true;

  constructor(
    consumer: Consumer,
    stream: Stream,
    deadLetters: KafkaDeadLetters,
    lost: AbortSignal,
  ) {
    this.#consumer = consumer;
    this.#stream = stream;
    this.#deadLetters = deadLetters;
    stream.on('readable', () => this.#bell.ring());
    stream.on('error', () => this.#end());
    stream.on('close', () => this.#end());
    lost.addEventListener('abort', () => this.#end(), { once: true });
    if (lost.aborted) this.#end();
  }

  get isOpen(): boolean {
    return this.#open;
  }

  get unsettled(): number {
    return this.#open ? this.#taken + this.#stream.readableLength : 0;
  }

  async take(max: number, signal: AbortSignal): Promise<Message[]> {
    const messages: Message[] = [];
    while (this.#open && !signal.aborted) {
      while (messages.length < max) {
        const raw = this.#stream.read() as Raw | null;
        if (raw === null) break;
        messages.push(messageOf(raw));
      }
      this.#taken = messages.length;
      if (messages.length > 0) return messages;
      await this.#bell.wait(signal);
    }
    return [];
  }

  async deadLetter(message: Message, why: Refused): Promise<void> {
    await this.#deadLetters.send(message as KafkaMessage, why);
  }

  async settle(messages: readonly Message[]): Promise<void> {
    if (!this.#open) return;
    const last = new Map<number, Raw>();
    for (const { raw } of messages as KafkaMessage[]) last.set(raw.partition, raw);
    const offsets = [...last.values()].map(({ topic, partition, offset, leaderEpoch }) => ({
      topic,
      partition,
      offset: offset + 1n,
      leaderEpoch,
    }));
    await withDeadline(this.#consumer.commit({ offsets }), COMMIT_MS, 'the commit of offsets');
    this.#taken = 0;
  }

  async close(): Promise<void> {
    this.#end();
    await Promise.all([
      closeKafka(async () => await this.#consumer.close(true)),
      this.#deadLetters.close(),
    ]);
  }

  #end(): void {
    this.#open = false;
    this.#bell.ring();
  }
}

function messageOf(raw: Raw): KafkaMessage {
  const headers: Record<string, unknown> = {};
  for (const [name, value] of raw.headerEntries) headers[name.toString()] = value;
  // A tombstone has no value.
  const body = raw.value ?? Buffer.alloc(0);
  return { id: null, position: `${raw.partition}:${raw.offset}`, body, headers, raw };
}
