import { describe, expect, it } from 'vitest';
import { PLAIN_JOB } from '../../../test/support/plain-job.ts';
import type { AlertView } from '../alert/alert.ts';
import { chatEvent } from './chat-event.ts';
import { alertEvent, jobEvent, testEvent } from './webhook-event.ts';

const delivery = {
  webhookId: 'w',
  event: 'job.failed',
  jobId: PLAIN_JOB.jobId,
  at: '2030-01-01',
} as const;
const failed = {
  ...PLAIN_JOB,
  definitionKey: 'report.build',
  owner: 'team-reports',
  attempts: 3,
  maxAttempts: 3,
  errorSummary: 'HANDLER_ERROR: <!channel> *no* [x](http://evil)',
};
const ALERT: AlertView = {
  id: 'a',
  rule: 'dead-letters',
  tenant: 'default',
  status: 'firing',
  severity: 'warning',
  owner: null,
  runbookUrl: null,
  definitionKey: 'report.build',
  scheduleId: null,
  webhookId: null,
  silenced: null,
  jobId: null,
  since: '2030-01-01T00:00:00Z',
  resolvedAt: null,
  value: 12,
  threshold: 10,
  unit: 'jobs',
  message: '12 jobs of report.build failed within an hour',
};

describe('an event in a chat', () => {
  it('says what failed, why, how often and who owns it', () => {
    const { text } = chatEvent('slack', jobEvent('d', delivery, failed)) as { text: string };
    expect(text.split('\n')).toEqual([
      '*report.build failed*',
      `job ${failed.jobId}, attempt 3 of 3`,
      'HANDLER_ERROR: &lt;!channel&gt; *no* [x](http://evil)',
      'owner: team-reports',
    ]);
  });

  it('can neither mention people nor link', () => {
    const body = chatEvent('discord', jobEvent('d', delivery, failed)) as { content: string };
    expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
    expect(body.content).toContain(String.raw`\<!channel\> \*no\* \[x\]\(http://evil\)`);
  });

  it('says that an alert fires, and that it is resolved', () => {
    const of = (alert: AlertView) =>
      chatEvent('slack', alertEvent('d', { ...delivery, event: 'alert.fired' }, alert));
    expect(of(ALERT)).toEqual({ text: `*Alert: dead-letters: report.build*\n${ALERT.message}` });
    expect(of({ ...ALERT, status: 'resolved' })).toEqual({
      text: `*Resolved: dead-letters: report.build*\n${ALERT.message}`,
    });
  });

  it('is a card in Teams, and a test is a sentence', () => {
    const card = JSON.stringify(chatEvent('teams', testEvent('d', delivery, 'default')));
    expect(card).toContain('"AdaptiveCard"');
    expect(card).toContain('Longshore can send messages here.');
  });
});
