import { expect, test } from 'vitest';
import { bindProblem, isLoopback } from './bind.ts';

test.each(['127.0.0.1', '127.9.9.9', 'localhost', '::1', '[::1]'])('%s is loopback', (host) => {
  expect(isLoopback(host)).toBe(true);
  expect(bindProblem(host, false)).toBeNull();
});

test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com'])(
  '%s is refused without a key, and open with one',
  (host) => {
    expect(bindProblem(host, false)).toContain('npx longshore keys create');
    expect(bindProblem(host, true)).toBeNull();
  },
);
