import { expect, test } from 'vitest';
import { violationWords } from './timing-words.ts';

test.each([
  [
    '/timezone',
    'unknown timezone "Berlin": did you mean "Europe/Berlin"?',
    'Unknown time zone "Berlin". Did you mean "Europe/Berlin"?',
  ],
  ['/timezone', 'unknown timezone "x"', 'Unknown time zone "x".'],
  [
    '/cron',
    'is not a cron expression: Invalid value for hour: 99',
    'This is not a cron expression: Invalid value for hour: 99.',
  ],
  ['/cron', 'must be 5 fields', 'The cron expression must be 5 fields.'],
  ['/endAt', 'must be after startAt', 'The end must be after startAt.'],
])('%s %s', (pointer, detail, words) => {
  expect(violationWords({ pointer, detail })).toBe(words);
});
