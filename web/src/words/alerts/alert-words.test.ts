import { expect, it } from 'vitest';
import { thresholdWords, windowWords } from './alert-words.ts';

it.each([
  [1, 'jobs', '1 job'],
  [1, 'retries', '1 retry'],
  [1, 'slots', '1 slot'],
  [1_000, 'jobs', '1,000 jobs'],
  [900, 'seconds', '15m'],
] as const)('%s %s is shown as %s', (threshold, unit, words) => {
  expect(thresholdWords({ threshold, unit })).toBe(words);
});

it('tells how far back a rule counts', () => {
  expect(windowWords({ windowSeconds: 3_600 })).toBe('1h');
  expect(windowWords({ windowSeconds: null })).toBe('at this moment');
});
