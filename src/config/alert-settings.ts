import { fallback, named, type Setting } from './setting.ts';

/** When alerts fire, and what their messages need. */
export const ALERT_SETTINGS: readonly Setting[] = [
  {
    ...named('alerts', 'LONGSHORE_ALERTS', 'server', 'rules'),
    kind: { type: 'alerts' },
    ...fallback(null, 'the thresholds of docs/operate/alerts.md'),
    meaning:
      'Alert rules, unless changed through the API: `rule=threshold`, ' +
      '`rule=threshold/windowSeconds` or `rule=off`, separated by commas (docs/operate/alerts.md).',
  },
  {
    ...named('smtpUrl', 'LONGSHORE_SMTP_URL', 'server', 'url'),
    kind: { type: 'url', protocols: ['smtp:', 'smtps:'] },
    ...fallback(null, 'none'),
    secret: true,
    meaning:
      'Mail server of workers for alerts by e-mail, such as `smtps://user:password@mail.example.com` ' +
      '(docs/operate/alerts.md).',
  },
  {
    ...named('alertFrom', 'LONGSHORE_ALERT_FROM', 'server', 'address'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    meaning: 'Sender address of alerts by e-mail.',
  },
  {
    ...named('publicUrl', 'LONGSHORE_PUBLIC_URL', 'server', 'url'),
    kind: { type: 'url', protocols: ['http:', 'https:'] },
    ...fallback(null, 'none: messages have no links'),
    meaning:
      'Address at which browsers reach the server, without `/ui`: for links in messages about alerts, ' +
      'and for the way back from an OpenID provider.',
  },
];
