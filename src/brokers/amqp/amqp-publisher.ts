import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { Publication, Publisher } from '../publisher.ts';
import { closeAmqp, connectAmqp, loadAmqp } from './amqp-client.ts';

interface Link {
  connection: ChannelModel;
  channel: ConfirmChannel;
  /** Why the channel was closed. */
  reason?: Error;
}

/**
 * Publishes to an exchange, and waits for the confirmation of each message. A failed connection or
 * channel is dropped; the next message opens another.
 */
export class AmqpPublisher implements Publisher {
  readonly #url: string;
  readonly #exchange: string;
  #link: Promise<Link> | undefined;

  constructor(url: string, exchange: string) {
    this.#url = url;
    this.#exchange = exchange;
  }

  async publish({ id, routingKey, type, contentType, headers, body }: Publication): Promise<void> {
    const link = await (this.#link ??= this.#connect());
    const options = { persistent: true, messageId: id, type, contentType, headers };
    await new Promise<void>((resolve, reject) => {
      link.channel.publish(this.#exchange, routingKey, Buffer.from(body), options, (error) => {
        if (error === null) resolve();
        else reject(link.reason ?? new Error('the broker did not confirm', { cause: error }));
      });
    });
  }

  async close(): Promise<void> {
    const link = await this.#link?.catch(() => undefined);
    this.#link = undefined;
    if (link) await closeAmqp(link.connection);
  }

  #connect(): Promise<Link> {
    const drop = () => {
      if (this.#link === opening) this.#link = undefined;
    };
    const opening = this.#open(drop);
    opening.catch(drop);
    return opening;
  }

  async #open(drop: () => void): Promise<Link> {
    const connection = await connectAmqp(await loadAmqp(), this.#url, 'events');
    const channel = await connection.createConfirmChannel();
    const link: Link = { connection, channel };
    channel.on('error', (error) => (link.reason = error));
    channel.on('close', () => {
      drop();
      void closeAmqp(connection);
    });
    return link;
  }
}
