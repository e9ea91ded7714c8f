import { unknownName } from '../values/nearest.ts';

const MECHANISMS = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
} as const;

export interface KafkaAddress {
  /** Brokers to ask for the others. */
  brokers: { host: string; port: number }[];
  tls: boolean;
  sasl: {
    mechanism: (typeof MECHANISMS)[keyof typeof MECHANISMS];
    username: string;
    password: string;
  } | null;
  /** Where events go; null: nowhere. */
  topic: string | null;
  /** After this time without a sign of life, the partitions of a consumer go to others. */
  sessionTimeoutMs: number;
}

const PORT_DEFAULT = 9_092;
const SESSION_DEFAULT_MS = 30_000;
const SESSION_MIN_MS = 3_000;
const SESSION_MAX_MS = 600_000;
const PARAMETERS = ['topic', 'sasl', 'session-timeout-ms'];

const URL_SHAPE = /^kafka(s?):\/\/(?:([^:@/?#]+):([^@/?#]*)@)?([^@/?#]+)\/?(?:\?([^#]*))?$/;
const HOST_SHAPE = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/;
const TOPIC_SHAPE = /^[A-Za-z0-9._-]{1,249}$/;

export function isTopicName(name: string): boolean {
  return TOPIC_SHAPE.test(name) && name !== '.' && name !== '..';
}

/**
 * Reads `kafka://user:password@host1:9092,host2:9092?topic=events&sasl=scram-sha-256`; `kafkas:` is
 * the same with TLS. Returns the problem as a text when it is malformed.
 */
export function readKafkaUrl(text: string): KafkaAddress | string {
  const [whole, secure, user = '', password = '', hosts = '', query = ''] =
    URL_SHAPE.exec(text) ?? [];
  if (whole === undefined) return 'kafka://HOST:PORT,HOST:PORT expected';
  const brokers = hosts.split(',').map(readHost);
  if (!brokers.every((broker) => broker !== null))
    return 'a host and a port from 1 to 65535 expected';
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (!PARAMETERS.includes(name)) return unknownName('parameter', name, PARAMETERS);
  }
  const topic = parameters.get('topic');
  if (topic !== null && !isTopicName(topic)) return 'topic must be the name of a topic';
  const session = parameters.get('session-timeout-ms') ?? `${SESSION_DEFAULT_MS}`;
  const sessionTimeoutMs = /^\d{1,6}$/.test(session) ? Number(session) : NaN;
  if (!(sessionTimeoutMs >= SESSION_MIN_MS && sessionTimeoutMs <= SESSION_MAX_MS)) {
    return `session-timeout-ms must be from ${SESSION_MIN_MS} to ${SESSION_MAX_MS}`;
  }
  const mechanism = parameters.get('sasl') ?? 'plain';
  if (!isMechanism(mechanism)) return unknownName('sasl', mechanism, Object.keys(MECHANISMS));
  if (parameters.has('sasl') && user === '') return 'sasl needs USER:PASSWORD@ before the host';
  const name = decoded(user);
  const secret = decoded(password);
  if (name === null || secret === null) return 'write % in a user or password as %25';
  return {
    brokers,
    tls: secure === 's',
    sasl:
      name === '' ? null : { mechanism: MECHANISMS[mechanism], username: name, password: secret },
    topic,
    sessionTimeoutMs,
  };
}

function readHost(text: string): { host: string; port: number } | null {
  const [whole, address, name, digits] = HOST_SHAPE.exec(text) ?? [];
  const port = Number(digits ?? PORT_DEFAULT);
  if (whole === undefined || port < 1 || port > 65_535) return null;
  return { host: address ?? name ?? '', port };
}

function isMechanism(name: string): name is keyof typeof MECHANISMS {
  return Object.hasOwn(MECHANISMS, name);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
