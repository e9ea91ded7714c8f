import { type Amqp, closeAmqp, connectAmqp, loadAmqp } from './amqp-client.ts';
import { AmqpSession } from './amqp-session.ts';
import { DeadLetters, type DeadLetterTarget } from './dead-letters.ts';
import type { Session, Source } from '../source.ts';

export interface AmqpSourceOptions {
  url: string;
  queue: string;
  /** How many messages the broker sends before one is acknowledged. */
  prefetch: number;
  deadLetters: DeadLetterTarget;
}

/** A queue of RabbitMQ, or of another broker with AMQP 0-9-1. */
export class AmqpSource implements Source {
  readonly name: string;
  readonly #options: AmqpSourceOptions;
  #amqp: Amqp | undefined;

  constructor(options: AmqpSourceOptions) {
    this.name = options.queue;
    this.#options = options;
  }

  async load(): Promise<void> {
    this.#amqp ??= await loadAmqp();
  }

  async open(): Promise<Session> {
    const { url, queue, prefetch, deadLetters: target } = this.#options;
    const amqp = (this.#amqp ??= await loadAmqp());
    const connection = await connectAmqp(amqp, url, `ingest ${queue}`);
    try {
      const channel = await connection.createChannel();
      const deadLetters = new DeadLetters(connection, queue, target);
      const session = new AmqpSession(connection, channel, deadLetters);
      await deadLetters.prepare();
      await channel.prefetch(prefetch);
      await channel.consume(queue, (message) => session.receive(message));
      return session;
    } catch (error) {
      await closeAmqp(connection);
      throw error;
    }
  }
}
