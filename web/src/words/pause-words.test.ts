import { expect, test } from 'vitest';
import { ago, NOW } from './made.fixture.ts';
import { pauseWords } from './pause-words.ts';

const since = ago(120);

test.each([
  [
    { scope: 'definition', name: 'mail', by: 'key:1f', reason: 'smtp is down', since },
    'mail has been paused for 2m by key:1f: smtp is down',
  ],
  [
    { scope: 'all', name: null, by: null, reason: null, since },
    'Everything has been paused for 2m.',
  ],
  [
    { scope: 'tenant', name: 'acme', by: 'cli', reason: null, since },
    'Tenant acme has been paused for 2m by cli.',
  ],
] as const)('%j', (pause, words) => expect(pauseWords(pause, NOW)).toBe(words));
