import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { Arrivals } from '../arrivals.ts';
import type { Message, Refused, Session } from '../source.ts';
import { closeAmqp } from './amqp-client.ts';
import type { DeadLetters } from './dead-letters.ts';

interface Received extends Message {
  raw: ConsumeMessage;
}

/** One connection that consumes a queue. It is over when its channel or its connection closes. */
export class AmqpSession implements Session {
  readonly #connection: ChannelModel;
  readonly #channel: Channel;
  readonly #deadLetters: DeadLetters;
  readonly #arrivals = new Arrivals<Received>();
  #unsettled = 0;

  constructor(connection: ChannelModel, channel: Channel, deadLetters: DeadLetters) {
    this.#connection = connection;
    this.#channel = channel;
    this.#deadLetters = deadLetters;
    channel.on('error', () => undefined);
    channel.on('close', () => this.#end());
    connection.on('close', () => this.#end());
  }

  get isOpen(): boolean {
    return !this.#arrivals.isOver;
  }

  get unsettled(): number {
    return this.#unsettled;
  }

  /** Null when the broker ends the subscription, for example because the queue was deleted. */
  receive(raw: ConsumeMessage | null): void {
    if (raw === null) return this.#end();
    const { messageId, headers } = raw.properties;
    const id = typeof messageId === 'string' && messageId !== '' ? messageId : null;
    this.#unsettled += 1;
    this.#arrivals.add({ id, position: null, body: raw.content, headers: headers ?? {}, raw });
  }

  async take(max: number, signal: AbortSignal): Promise<Message[]> {
    return await this.#arrivals.take(max, signal);
  }

  async deadLetter(message: Message, why: Refused): Promise<void> {
    const { raw } = message as Received;
    if (this.#deadLetters.byBroker) return this.#channel.reject(raw, false);
    await this.#deadLetters.send(raw, why);
  }

  /** One acknowledgement for all: messages are taken and settled in the order of their arrival. */
  async settle(messages: readonly Message[]): Promise<void> {
    const last = messages.at(-1) as Received | undefined;
    if (!last || !this.isOpen) return;
    this.#unsettled -= messages.length;
    this.#channel.ack(last.raw, true);
  }

  /** The channel first: its acknowledgements are sent before its end, but not before that of the connection. */
  async close(): Promise<void> {
    this.#end();
    await closeAmqp(this.#channel);
    await closeAmqp(this.#connection);
  }

  #end(): void {
    this.#arrivals.end();
    this.#unsettled = 0;
  }
}
