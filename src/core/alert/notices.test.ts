import { describe, expect, it } from 'vitest';
import type { AlertRuleName, AlertView } from './alert.ts';
import { LISTED_MAX, type Notice, planMessages } from './notices.ts';
import type { QuietHours } from './quiet-hours.ts';

const QUIET_AT_NIGHT: QuietHours = { from: '22:00', to: '07:00', timezone: 'UTC', days: null };
const NIGHT = new Date('2030-01-01T23:00:00Z');
const DAY = new Date('2030-01-02T08:00:00Z');

interface Made extends Partial<Omit<Notice, 'alert'>> {
  rule?: AlertRuleName;
  resolved?: true;
  critical?: true;
  since?: string;
}

/** A notice that is due, about an alert that fires. */
function notice(id: string, made: Made = {}): Notice {
  const { rule = 'stuck', resolved, critical, since = '2030-01-01T00:00:00Z', ...rest } = made;
  const alert: AlertView = {
    id,
    rule,
    tenant: 'default',
    status: resolved ? 'resolved' : 'firing',
    severity: critical ? 'critical' : 'warning',
    definitionKey: id,
    scheduleId: null,
    webhookId: null,
    silenced: null,
    jobId: null,
    owner: null,
    runbookUrl: null,
    since,
    resolvedAt: resolved ? since : null,
    value: 1,
    threshold: 1,
    unit: 'jobs',
    message: `${id} is stuck`,
  };
  return { alert, due: true, notified: false, held: false, ...rest };
}

/** Each message as `kind: phase id, …`, and what is held. */
function planned(notices: Notice[], now = DAY, quietHours: QuietHours | null = null) {
  const { messages, hold } = planMessages({ quietHours }, notices, now);
  const lines = messages.map(({ message }) => {
    const items = message.items.map(({ phase, alert }) => `${phase} ${alert.id}`);
    return `${message.kind}: ${items.join(', ')}`;
  });
  return { lines, held: hold.map(({ alert }) => alert.id) };
}

describe('alerts of one rule', () => {
  it('are one message, as soon as one of them is due', () => {
    const waiting = { due: false };
    expect(planned([notice('a', waiting), notice('b', waiting)]).lines).toEqual([]);
    expect(planned([notice('a'), notice('b', waiting)]).lines).toEqual([
      'alerts: fired a, fired b',
    ]);
  });

  it('are apart from those of other rules', () => {
    const notices = [notice('a'), notice('b', { rule: 'unserved' }), notice('c')];
    expect(planned(notices).lines).toEqual(['alerts: fired a, fired c', 'alerts: fired b']);
  });

  it.each([
    ['notified before', { notified: true, resolved: true } as const, 'alerts: resolved a'],
    ['never notified', { resolved: true } as const, 'alerts: over a'],
    ['not resolved', {}, 'alerts: fired a'],
  ])('say what became of one that was %s', (_, made, line) => {
    expect(planned([notice('a', made)]).lines).toEqual([line]);
  });

  it('are listed by urgency and counted in all', () => {
    const many = Array.from({ length: 30 }, (_, n) => notice(`n${n}`, { since: `2030-02-${n}` }));
    const notices = [
      notice('over', { resolved: true }),
      notice('done', { resolved: true, notified: true }),
      ...many,
      notice('worst', { critical: true, since: '2031-01-01' }),
    ];
    const [one] = planMessages({ quietHours: null }, notices, DAY).messages;
    expect(one?.message.items).toHaveLength(LISTED_MAX);
    expect(one?.message.items[0]?.alert.id).toBe('worst');
    expect(one?.message.counts).toEqual({ fired: 31, resolved: 1, over: 1 });
    expect(one?.notices).toHaveLength(33);
  });
});

describe('quiet hours', () => {
  it('let only critical alerts through', () => {
    const notices = [
      notice('a'),
      notice('b', { critical: true }),
      notice('c', { resolved: true, notified: true }),
      notice('d', { resolved: true, notified: true, critical: true }),
      notice('later', { due: false }),
      notice('known', { held: true }),
    ];
    expect(planned(notices, NIGHT, QUIET_AT_NIGHT)).toEqual({
      lines: ['alerts: fired b, resolved d'],
      held: ['a', 'c'],
    });
  });

  it('are followed by one summary, also of what is over meanwhile', () => {
    const notices = [
      notice('a', { held: true }),
      notice('b', { held: true, resolved: true, rule: 'unserved' }),
      notice('c', { held: true, resolved: true, notified: true }),
      notice('fresh', { rule: 'vacuum' }),
    ];
    expect(planned(notices, DAY, QUIET_AT_NIGHT)).toEqual({
      lines: ['alerts: fired fresh', 'summary: fired a, resolved c, over b'],
      held: [],
    });
  });

  it('hold nothing back by day', () => {
    expect(planned([notice('a')], DAY, QUIET_AT_NIGHT)).toEqual({
      lines: ['alerts: fired a'],
      held: [],
    });
  });
});
