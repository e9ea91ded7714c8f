import { expect, it } from 'vitest';
import type { EventType } from '../../../../src/core/views/history.ts';
import { eventTitle, eventWords } from './event-words.ts';
import { madeWorker } from '../made.fixture.ts';

const error = { code: 'HANDLER_ERROR', message: 'no room\nat all', stack: 'Error: no room' };

it.each<[EventType, unknown, string | RegExp]>([
  ['created', null, ''],
  ['started', { workerId: madeWorker().workerId }, /^by .* \(pid \d+\)$/],
  ['started', { workerId: 'gone' }, 'by worker gone'],
  ['failed', { error }, 'HANDLER_ERROR'],
  [
    'retry_scheduled',
    { error, runAt: '2026-11-15T10:00:00Z' },
    /^HANDLER_ERROR, runs at 15 Nov 2026, \d\d:\d\d:00\.000$/,
  ],
  ['retry_scheduled', { mode: 'now', runAt: null }, 'manually'],
  ['cancel_requested', { by: 'key:1f0c' }, 'by key:1f0c'],
  ['cancel_requested', { by: 'anonymous (no keys)' }, 'by anonymous (no keys)'],
  ['cancel_requested', null, ''],
  ['lease_lost', { workerId: 'w', message: 'its worker is gone' }, 'its worker is gone'],
  ['hook', { hook: 'onEnd', status: 'failed', error }, 'onEnd failed: HANDLER_ERROR no room'],
  ['progress', { fraction: 0.419, message: 'page 3' }, '41 % · page 3'],
  ['custom', { rows: 3 }, '{"rows":3}'],
  ['custom', { type: 'webhook.sent', payload: { status: 202 } }, '{"status":202}'],
  ['custom', { type: 'sent' }, ''],
  ['custom', 'x'.repeat(400), /^"x{299}…$/],
  ['failed', null, ''],
])('%s %j', (type, payload, words) => {
  const text = eventWords({ type, payload }, [madeWorker()]);
  if (typeof words === 'string') expect(text).toBe(words);
  else expect(text).toMatch(words);
});

it.each<[EventType, unknown, string]>([
  ['custom', { type: 'report.stored', payload: 1 }, 'report.stored'],
  ['custom', { rows: 3 }, 'custom'],
  ['retry_scheduled', { type: 'x' }, 'retry scheduled'],
])('%s %j is named %s', (type, payload, title) => {
  expect(eventTitle({ type, payload })).toBe(title);
});
