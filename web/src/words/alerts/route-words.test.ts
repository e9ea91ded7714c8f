import { expect, it, test } from 'vitest';
import { destinationWords, filterWords, namesIn, wordsIn, routeRefusal } from './route-words.ts';

const ALL = { rules: null, owners: null, definitionKeys: null };

test.each([
  [ALL, 'all alerts'],
  [{ ...ALL, owners: ['team-a', 'team b'] }, 'owners team-a, team b'],
  [{ ...ALL, rules: ['stuck'] as ['stuck'], definitionKeys: ['a'] }, 'rules stuck; definitions a'],
])('%j sends %s', (route, words) => expect(filterWords(route)).toBe(words));

it('says where it sends', () => {
  expect(destinationWords({ to: ['a@x', 'b@x'], urlHost: null })).toBe('a@x, b@x');
  expect(destinationWords({ to: [], urlHost: 'hooks.slack.com' })).toBe('hooks.slack.com');
});

it('reads lists', () => {
  expect(wordsIn(' a@x, b@x\nc@x ')).toEqual(['a@x', 'b@x', 'c@x']);
  expect(wordsIn('  ')).toBeNull();
  expect(namesIn('team a, team b,')).toEqual(['team a', 'team b']);
  expect(namesIn(' , ')).toBeNull();
});

test.each([
  ['/to/0: must be an e-mail address.', 'Each of the e-mail addresses must be an e-mail address.'],
  ['/url: is required for slack.', 'The URL is required for slack.'],
  ['/rules/0: must be a rule.', '/rules/0: must be a rule.'],
])('the refusal %s is shown in words', (text, words) => {
  expect(routeRefusal(text)).toBe(words);
});
