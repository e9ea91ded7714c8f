import { fallback, named, type Setting } from './setting.ts';

/** Where the events of jobs may go, and where messages come from. */
export const EVENT_SETTINGS: readonly Setting[] = [
  {
    ...named('webhookAllow', 'LONGSHORE_WEBHOOK_ALLOW', 'server', 'networks'),
    kind: { type: 'networks' },
    ...fallback(null, 'none'),
    meaning:
      'Non-public networks that webhooks may reach, such as `10.1.0.0/16` (docs/operate/webhooks.md).',
  },
  {
    ...named('brokers', 'LONGSHORE_BROKERS', 'server', 'brokers'),
    kind: { type: 'brokers' },
    ...fallback(null, 'none'),
    secret: true,
    meaning:
      'Message brokers by name, as `name=amqps://user:password@host/vhost` or ' +
      '`name=kafka://host1:9092,host2:9092`, separated by commas (docs/message-brokers.md).',
  },
];
