import { expect, test } from 'vitest';
import { withDatabase } from './database-url.ts';

test.each([
  ['postgres://u:p@db:5432/jobs', 'postgres://u:p@db:5432/mine'],
  ['postgres://u:p@db', 'postgres://u:p@db/mine'],
  ['postgres:///jobs?host=/tmp', 'postgres:///mine?host=/tmp'],
  [
    'postgres://longshore:p%40@/longshore?host=/app/.longshore/pg&port=20123',
    'postgres://longshore:p%40@/mine?host=/app/.longshore/pg&port=20123',
  ],
])('%s has the other database %s', (url, expected) => {
  expect(withDatabase(url, 'mine')).toBe(expected);
});

test.each(['postgres://u:secret@db:port/jobs', 'secret', ''])('%j is refused unseen', (url) => {
  let refusal: unknown;
  try {
    withDatabase(url, 'mine');
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(TypeError);
  // All its own properties too: Node prints them.
  const { message, stack, ...others } = refusal as Error;
  expect(`${message}${stack}${JSON.stringify(others)}`).not.toContain('secret');
});
