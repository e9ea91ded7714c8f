import { expect, it, test } from 'vitest';
import { destinationWords, filterWords, namesIn, wordsIn } from './route-words.ts';

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
