import { expect, it } from 'vitest';
import { NOW, ago } from '../made.fixture.ts';
import {
  noRouteWords,
  scopeWords,
  silenceWords,
  thresholdWords,
  windowWords,
} from './alert-words.ts';

it.each([
  [1, 'jobs', '1 job'],
  [1, 'retries', '1 retry'],
  [1, 'slots', '1 slot'],
  [1, 'canaries', '1 canary'],
  [1_000, 'jobs', '1,000 jobs'],
  [900, 'seconds', '15m'],
] as const)('%s %s is shown as %s', (threshold, unit, words) => {
  expect(thresholdWords({ threshold, unit })).toBe(words);
});

it('tells how far back a rule counts', () => {
  expect(windowWords({ windowSeconds: 3_600 })).toBe('1h');
  expect(windowWords({ windowSeconds: null })).toBe('at this moment');
});

it.each([
  ['stuck', 'mail', 'Applies to mail only.'],
  ['stuck', null, 'Applies to all definitions that have no rule of their own.'],
  ['vacuum', null, 'Applies to the whole server.'],
  ['webhook-failing', null, 'Applies to all webhooks.'],
] as const)('the rule %s of %s: %s', (rule, definitionKey, words) => {
  expect(scopeWords({ rule, definitionKey })).toBe(words);
});

it('says when no alert is sent at all', () => {
  expect(noRouteWords([{ status: 'active', events: ['alert.fired'] }])).toMatch(
    /subscribed webhooks/,
  );
  expect(noRouteWords([{ status: 'paused', events: ['alert.fired'] }])).toMatch(
    /^No alert is sent/,
  );
  expect(noRouteWords([])).toMatch(/^No alert is sent: there is no route/);
});

it('says how long a silence holds', () => {
  expect(silenceWords({ until: ago(-3_600), by: 'ada' }, NOW)).toBe('silenced for 1h more by ada');
  expect(silenceWords({ until: null, by: 'ada' }, NOW)).toBe(
    'silenced until it is resolved by ada',
  );
});
