import { readKafkaUrl } from './kafka-url.ts';

/** The kinds of brokers: RabbitMQ and others with AMQP 0-9-1, and Kafka. */
export type BrokerKind = 'amqp' | 'kafka';

const ENTRY = /^([a-z0-9][a-z0-9-]{0,62})=(\S+)$/;

/**
 * Brokers by name, as in `rabbit=amqps://user:password@host/vhost,events=kafka://host1,host2`. Null
 * when the text is malformed. A comma of a URL does not separate: a name and `=` must follow.
 */
export function parseBrokers(text: string): Map<string, string> | null {
  const brokers = new Map<string, string>();
  for (const { name, url } of entriesOf(text)) {
    if (!isBrokerUrl(url) || brokers.has(name)) return null;
    brokers.set(name, url);
  }
  return brokers;
}

/** What is wrong with the URL of a Kafka broker in the setting, without its secrets. */
export function kafkaProblem(text: string): string | null {
  for (const { name, url } of entriesOf(text)) {
    const read = brokerKind(url) === 'kafka' ? readKafkaUrl(url) : null;
    if (typeof read === 'string') return `${name}: ${read}`;
  }
  return null;
}

export function brokerKind(url: string): BrokerKind | null {
  if (/^amqps?:/.test(url)) return 'amqp';
  return /^kafkas?:/.test(url) ? 'kafka' : null;
}

export function isBrokerUrl(text: string): boolean {
  const kind = brokerKind(text);
  if (kind === 'kafka') return typeof readKafkaUrl(text) !== 'string';
  return kind === 'amqp' && URL.canParse(text) && new URL(text).hostname !== '';
}

export function hasPassword(url: string): boolean {
  if (brokerKind(url) === 'amqp') return new URL(url).password !== '';
  const read = readKafkaUrl(url);
  return typeof read !== 'string' && read.sasl !== null && read.sasl.password !== '';
}

function entriesOf(text: string): { name: string; url: string }[] {
  return text.split(/,\s*(?=[a-z0-9-]+=)/).map((entry) => {
    const [, name = '', url = ''] = ENTRY.exec(entry.trim()) ?? [];
    return { name, url };
  });
}
