import { expect, test } from 'vitest';
import { failingWords } from './failing.ts';

test.each([
  [
    { url: 'https://shop.example:8443/hooks/secret-token?k=1', failures: 873 },
    'https://shop.example:8443, 873 sends in a row, no answer (X)',
  ],
  [{ url: 'broker://main', failures: 1 }, 'broker://main, 1 send, no answer (X)'],
])('names the receiver of %j without its path', (over, words) => {
  expect(failingWords({ lastError: 'no answer (X)', ...over })).toBe(words);
});
