import { expect, test } from 'vitest';
import type { AttemptView } from '../../../../src/core/views/history.ts';
import { ago, NOW } from '../made.fixture.ts';
import { outcomeWords, spans } from './timeline.ts';

const attempt = (from: number, to: number | null) =>
  ({ startedAt: ago(from), finishedAt: to === null ? null : ago(to) }) as AttemptView;

test('attempts share one line of time, and none is too short to be seen', () => {
  const drawn = spans([attempt(100, 90), attempt(50, 50), attempt(20, null)], NOW);
  expect(drawn).toEqual([
    { left: 0, width: 10 },
    { left: 50, width: 1.5 },
    { left: 80, width: 20 },
  ]);
});

test('one that took no time fills nothing and stays inside', () => {
  expect(spans([attempt(5, 5)], NOW)).toEqual([{ left: 0, width: 1.5 }]);
  expect(spans([], NOW)).toEqual([]);
});

test.each([
  [null, 'Running'],
  ['succeeded', 'Succeeded'],
  ['cancelled', 'Cancelled'],
  ['queued', 'Requeued'],
  ['scheduled', 'Snoozed'],
] as const)('an attempt whose outcome is %s is shown as %s', (outcome, words) => {
  expect(outcomeWords({ outcome })).toBe(words);
});
