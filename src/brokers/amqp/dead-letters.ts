import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import { withDeadline } from '../../runtime/deadline.ts';
import { reasonHeaders } from '../reason-headers.ts';
import type { Refused } from '../source.ts';

/** Where poison messages go. `broker`: rejected, so that the queue's own dead-letter exchange gets them. */
export type DeadLetterTarget =
  { kind: 'queue'; name: string } | { kind: 'exchange'; name: string } | { kind: 'broker' };

const CONFIRM_MS = 30_000;

/**
 * Publishes poison messages with their reason, and waits until the broker has them: only then may
 * the original be acknowledged. A message that reaches no queue comes back, and counts as failed.
 */
export class DeadLetters {
  readonly #connection: ChannelModel;
  readonly #queue: string;
  readonly #target: DeadLetterTarget;
  #channel: ConfirmChannel | undefined;

  constructor(connection: ChannelModel, queue: string, target: DeadLetterTarget) {
    this.#connection = connection;
    this.#queue = queue;
    this.#target = target;
  }

  get byBroker(): boolean {
    return this.#target.kind === 'broker';
  }

  /** Checks the target, so that a mistake shows at the start. Creates a queue that does not exist. */
  async prepare(): Promise<void> {
    const { kind } = this.#target;
    if (kind === 'broker') return;
    const { name } = this.#target;
    if (kind === 'exchange') {
      await this.#try(async (channel) => await channel.checkExchange(name));
      return;
    }
    try {
      // A queue with other properties than ours may be there already.
      await this.#try(async (channel) => await channel.checkQueue(name));
    } catch (error) {
      if (!isMissing(error)) throw error;
      await this.#try(async (channel) => await channel.assertQueue(name, { durable: true }));
    }
  }

  async send({ content, fields, properties }: ConsumeMessage, why: Refused): Promise<void> {
    if (this.#target.kind === 'broker') return;
    const { kind, name } = this.#target;
    const { headers, expiration: _expiration, userId: _userId, ...kept } = properties;
    const [exchange, key] = kind === 'queue' ? ['', name] : [name, fields.routingKey];
    const options = {
      ...kept,
      persistent: true,
      mandatory: true,
      headers: { ...headers, ...reasonHeaders(this.#queue, why) },
    };
    const channel = (this.#channel ??= await this.#open());
    const sent = new Promise<void>((resolve, reject) => {
      let returned = false;
      const onReturn = () => (returned = true);
      // It comes before the confirmation. Dead letters are sent one at a time, so it is this one.
      channel.once('return', onReturn);
      channel.publish(exchange, key, content, options, (error: unknown) => {
        channel.removeListener('return', onReturn);
        if (error) reject(asError(error));
        else if (returned) reject(new Error(`the dead-letter ${kind} ${name} leads to no queue`));
        else resolve();
      });
    });
    await withDeadline(sent, CONFIRM_MS, 'the confirmation of a dead letter').catch(
      async (error: unknown) => {
        this.#channel = undefined;
        await channel.close().catch(() => undefined);
        throw error;
      },
    );
  }

  async #open(): Promise<ConfirmChannel> {
    const channel = await this.#connection.createConfirmChannel();
    channel.on('error', () => undefined);
    channel.on('close', () => {
      if (this.#channel === channel) this.#channel = undefined;
    });
    return channel;
  }

  /** On a channel of its own, since a refusal closes it. */
  async #try(work: (channel: ConfirmChannel) => Promise<unknown>): Promise<void> {
    const channel = await this.#open();
    await work(channel);
    await channel.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 404;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the broker refused the message');
}
