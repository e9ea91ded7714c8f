import type { Session, Source } from '../source.ts';
import {
  clientOptions,
  closeKafka,
  guarded,
  type Kafka,
  kafkaAddress,
  loadKafka,
  plainError,
} from './kafka-client.ts';
import { KafkaDeadLetters } from './kafka-dead-letters.ts';
import { KafkaSession } from './kafka-session.ts';

export interface KafkaSourceOptions {
  url: string;
  topic: string;
  /** Consumers of one group share the partitions of the topic. */
  group: string;
  /** No more is fetched while this many messages wait. */
  prefetch: number;
  deadLetterTopic: string;
}

/** How long the broker waits for the first message; it answers at once when there is one. */
const FETCH_WAIT_MS = 500;
const FETCH_BYTES = 4 * 2 ** 20;
const PARTITION_BYTES = 2 ** 20;
/** Others of the group have this long to join when the partitions are shared out again. */
const REBALANCE_MS = 60_000;
const HEARTBEAT_MAX_MS = 3_000;

/** A topic of Kafka, consumed as a member of a group. */
export class KafkaSource implements Source {
  readonly name: string;
  readonly #options: KafkaSourceOptions;
  #kafka: Kafka | undefined;

  constructor(options: KafkaSourceOptions) {
    this.name = options.topic;
    this.#options = options;
  }

  async load(): Promise<void> {
    this.#kafka ??= await loadKafka();
  }

  async open(stopping: AbortSignal): Promise<Session> {
    const { url, topic, group, prefetch, deadLetterTopic } = this.#options;
    const kafka = (this.#kafka ??= await loadKafka());
    const address = kafkaAddress(url);
    const { sessionTimeoutMs } = address;
    const options = clientOptions(address, 'ingest');
    const consumer = new kafka.Consumer({
      ...options,
      groupId: group,
      autocommit: false,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.min(HEARTBEAT_MAX_MS, Math.round(sessionTimeoutMs / 8)),
      rebalanceTimeout: REBALANCE_MS,
      maxWaitTime: FETCH_WAIT_MS,
      maxBytes: FETCH_BYTES,
      maxBytesPerPartition: PARTITION_BYTES,
      highWaterMark: prefetch,
    });
    guarded(consumer);
    const lost = new AbortController();
    consumer.on('error', () => lost.abort());
    try {
      // Creates the topic of dead letters, where the broker does that.
      await consumer.metadata({ topics: [deadLetterTopic], autocreateTopics: true });
      // A group without offsets begins with the oldest message.
      const start = { mode: 'committed', fallbackMode: 'earliest' } as const;
      const stream = await unless(stopping, consumer.consume({ topics: [topic], ...start }));
      const deadLetters = new KafkaDeadLetters(
        guarded(new kafka.Producer({ ...options, acks: kafka.ProduceAcks.ALL })),
        { from: topic, to: deadLetterTopic },
      );
      return new KafkaSession(consumer, stream, deadLetters, lost.signal);
    } catch (error) {
      await closeKafka(async () => await consumer.close(true));
      throw plainError(error);
    }
  }
}

/** To join a group takes as long as the others need to give up their partitions. */
async function unless<T>(stopping: AbortSignal, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new Error('the process stops'));
    stopping.addEventListener('abort', stop, { once: true });
    if (stopping.aborted) stop();
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    stopping.removeEventListener('abort', stop);
  }
}
