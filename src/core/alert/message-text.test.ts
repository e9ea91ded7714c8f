import { describe, expect, it } from 'vitest';
import type { AlertView } from './alert.ts';
import { chatStyle, messageText } from './message-text.ts';
import type { AlertItem, AlertMessage, AlertPhase } from './route.ts';

const ALERT: AlertView = {
  id: 'a',
  rule: 'dead-letters',
  tenant: 'default',
  status: 'firing',
  severity: 'warning',
  definitionKey: 'report.build',
  scheduleId: null,
  webhookId: null,
  silenced: null,
  jobId: '0199f0a1-6b2d-7000-8a1c-4a3e2b1d0c00',
  owner: 'team-reports',
  runbookUrl: 'https://wiki.example.com/build_report',
  since: '2030-01-01T00:00:00.000Z',
  resolvedAt: null,
  value: 12,
  threshold: 10,
  unit: 'jobs',
  message: '12 jobs of report.build failed for good within 1h (threshold 10)',
};
const RESOLVED = { ...ALERT, status: 'resolved', resolvedAt: '2030-01-01T01:00:00.000Z' } as const;

const item = (phase: AlertPhase, over: Partial<AlertView> = {}): AlertItem => ({
  phase,
  alert: { ...(phase === 'fired' ? ALERT : RESOLVED), ...over },
});

function message(...items: AlertItem[]): AlertMessage {
  const count = (phase: AlertPhase) => items.filter((one) => one.phase === phase).length;
  const counts = { fired: count('fired'), resolved: count('resolved'), over: count('over') };
  return { kind: 'alerts', items, counts };
}

describe('a message', () => {
  it('has the facts of its alert', () => {
    expect(messageText(message(item('fired')), 'https://jobs.example.com/')).toEqual({
      subject: 'Alert: dead-letters: report.build',
      text: [
        '12 jobs of report.build failed for good within 1h (threshold 10)',
        'since: 2030-01-01T00:00:00.000Z',
        'definition: report.build',
        'owner: team-reports',
        'runbook: https://wiki.example.com/build_report',
        'link: https://jobs.example.com/ui/jobs/0199f0a1-6b2d-7000-8a1c-4a3e2b1d0c00',
      ].join('\n'),
    });
  });

  it('says when its alert was resolved, and whose it is', () => {
    const { subject, text } = messageText(message(item('resolved', { tenant: 'acme' })), null);
    expect(subject).toBe('Resolved: dead-letters: report.build');
    expect(text.split('\n')).toContain('resolved: 2030-01-01T01:00:00.000Z');
    expect(text.split('\n')).toContain('tenant: acme');
    expect(text).not.toContain('link:');
  });

  it.each([
    ['Critical alert: dead-letters: report.build', [item('fired', { severity: 'critical' })]],
    ['Alert: vacuum', [item('fired', { rule: 'vacuum', definitionKey: null })]],
    ['Fired and resolved: dead-letters: report.build', [item('over')]],
    ['2 alerts: dead-letters', [item('fired'), item('fired')]],
    [
      '1 alert (1 critical), 1 resolved, 1 fired and resolved',
      [item('fired', { severity: 'critical', rule: 'stuck' }), item('resolved'), item('over')],
    ],
  ])('has the subject "%s"', (subject, items) => {
    expect(messageText(message(...items), null).subject).toBe(subject);
  });

  it('names what it does not list, and links to the list', () => {
    const long: AlertMessage = {
      kind: 'summary',
      items: [item('fired'), item('fired')],
      counts: { fired: 40, resolved: 2, over: 0 },
    };
    const { subject, text } = messageText(long, 'https://jobs.example.com');
    expect(subject).toBe('After quiet hours: 40 alerts, 2 resolved: dead-letters');
    expect(text).toContain('… and 40 more: see the list of alerts');
    expect(text.split('\n').at(-1)).toBe('https://jobs.example.com/ui/alerts');
  });

  it('is harmless in a chat, and its links still work', () => {
    const hostile = item('fired', {
      message: '*no* <!channel>',
      jobId: null,
      definitionKey: 'a_b',
    });
    const slack = messageText(message(hostile), 'https://jobs.example.com', chatStyle('slack'));
    expect(slack.text).toContain('*no* &lt;!channel&gt;');
    const discord = messageText(message(hostile), 'https://jobs.example.com', chatStyle('discord'));
    expect(discord.text).toContain(String.raw`\*no\* \<!channel\>`);
    expect(discord.text).toContain('link: https://jobs.example.com/ui/definitions/a%5Fb');
    expect(discord.text).toContain('runbook: https://wiki.example.com/build%5Freport');
  });

  it('of a test says so', () => {
    const test = { ...message(), kind: 'test' } as const;
    expect(messageText(test, null)).toEqual({
      subject: 'Test',
      text: 'Longshore can send alerts here.',
    });
  });
});
