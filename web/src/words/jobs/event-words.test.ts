import { expect, it } from 'vitest';
import type { EventType } from '../../../../src/core/views/history.ts';
import { eventWords } from './event-words.ts';
import { madeWorker } from '../made.fixture.ts';

const error = { code: 'HANDLER_ERROR', message: 'no room\nat all', stack: 'Error: no room' };

it.each<[EventType, unknown, string | RegExp]>([
  ['created', null, ''],
  ['started', { workerId: madeWorker().workerId }, /^by .* \(pid \d+\)$/],
  ['started', { workerId: 'gone' }, 'by worker gone'],
  ['failed', { error }, 'HANDLER_ERROR no room'],
  [
    'retry_scheduled',
    { error, runAt: '2026-11-15T10:00:00Z' },
    /^HANDLER_ERROR no room, runs at \d\d:/,
  ],
  ['retry_scheduled', { mode: 'now', runAt: null }, 'manually'],
  ['cancel_requested', { by: 'key:1f0c' }, 'by key:1f0c'],
  ['cancel_requested', { by: 'open' }, 'by a user (no sign-in configured)'],
  ['cancel_requested', null, ''],
  ['lease_lost', { workerId: 'w', message: 'its worker is gone' }, 'its worker is gone'],
  ['hook', { hook: 'onEnd', status: 'failed', error }, 'onEnd failed: HANDLER_ERROR no room'],
  ['progress', { fraction: 0.419, message: 'page 3' }, '41 % · page 3'],
  ['custom', { rows: 3 }, '{"rows":3}'],
  ['custom', 'x'.repeat(400), /^"x{299}…$/],
  ['failed', null, ''],
])('%s %j', (type, payload, words) => {
  const text = eventWords({ type, payload }, [madeWorker()]);
  if (typeof words === 'string') expect(text).toBe(words);
  else expect(text).toMatch(words);
});
