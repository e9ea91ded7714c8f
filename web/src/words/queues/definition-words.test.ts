import { expect, test } from 'vitest';
import { isolationWords, newestVersions, retryWords } from './definition-words.ts';
import { madeDefinition } from '../made.fixture.ts';

test('of each key the newest version is shown', () => {
  const all = [
    madeDefinition({ key: 'b', version: 2 }),
    madeDefinition({ key: 'b', version: 10 }),
    madeDefinition({ key: 'a' }),
  ];
  expect(newestVersions(all).map(({ key, version }) => [key, version])).toEqual([
    ['a', 1],
    ['b', 10],
  ]);
});

test.each([
  [{}, 'after 1 s, doubling up to 1m'],
  [{ retry: { delaysMs: [0, 5_000], jitter: 0 } }, 'at once, then after 5 s'],
  [{ maxAttempts: 1 }, 'No retries'],
])('%j is tried again %s', (over, words) => {
  expect(retryWords(madeDefinition(over))).toBe(words);
});

test('a program is named', () => {
  expect(isolationWords(madeDefinition({ command: ['python3', 'x.py'] }))).toBe(
    'the program python3 x.py',
  );
});
