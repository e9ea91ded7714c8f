import { brokerKind } from '../core/broker/broker-url.ts';
import { checkAmqp } from './amqp/check-amqp.ts';
import { checkKafka } from './kafka/check-kafka.ts';

/** Connects, and looks for the place that events go to. Rejects when one of them is missing. */
export async function checkBroker(url: string): Promise<void> {
  await (brokerKind(url) === 'kafka' ? checkKafka(url) : checkAmqp(url));
}
