import { expect, test } from 'vitest';
import { ago, NOW } from '../made.fixture.ts';
import { pauseWords, resumeWords } from './pause-words.ts';

const since = ago(120);

test.each([
  [
    { scope: 'definition', name: 'mail', by: 'key:1f', reason: 'smtp is down', since },
    'mail was paused 2m ago by key:1f: smtp is down',
  ],
  [{ scope: 'all', name: null, by: null, reason: null, since }, 'Everything was paused 2m ago.'],
  [
    { scope: 'tenant', name: 'acme', by: 'cli', reason: null, since },
    'Tenant acme was paused 2m ago by cli.',
  ],
  [
    { scope: 'definition', name: 'mail', by: 'anonymous (no keys)', reason: null, since },
    'mail was paused 2m ago by anonymous (no keys).',
  ],
] as const)('%j', (pause, words) => expect(pauseWords(pause, NOW)).toBe(words));

test.each([
  [250, '250 waiting jobs start.'],
  [1, '1 waiting job starts.'],
  [0, 'No job waits. New jobs start at once.'],
  [null, 'Its waiting jobs start.'],
])('a resume with %s waiting jobs: %s', (waiting, words) => {
  expect(resumeWords(waiting)).toBe(words);
});
