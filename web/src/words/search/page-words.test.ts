import { expect, it } from 'vitest';
import { showZone } from '../zone.ts';
import { noneFailedYet, noneYet, pageWords, progressWords } from './page-words.ts';

showZone('UTC');
const NOW = new Date('2026-11-18T12:00:00Z');
const EARLIER = '2026-11-18T09:30:00Z';
const BEFORE = '2026-11-01T09:30:00Z';

it.each([
  [1, null, null, '1 job'],
  [3, null, null, '3 jobs'],
  [50, 'x', EARLIER, '50 jobs, and more'],
  [3, 'x', EARLIER, '3 jobs so far, since 09:30; not all jobs were searched'],
  [3, 'x', BEFORE, '3 jobs so far, since 01 Nov, 09:30; not all jobs were searched'],
])('%i jobs, cursor %s, until %s', (count, nextCursor, searchedUntil, words) => {
  const jobs = Array.from({ length: count });
  expect(pageWords({ jobs, nextCursor, searchedUntil }, undefined, NOW)).toBe(words);
});

it('never says that there are none while there may be some', () => {
  expect(noneYet(BEFORE, undefined, NOW)).toBe(
    'No matches among jobs created since 01 Nov, 09:30.',
  );
  expect(noneYet(EARLIER, 'createdAt', NOW)).toBe('No matches among jobs created before 09:30.');
  expect(noneFailedYet(EARLIER, NOW)).toBe('No matches among failures since 09:30.');
  expect(progressWords(EARLIER, NOW)).toBe('Searching… reached 09:30');
});
