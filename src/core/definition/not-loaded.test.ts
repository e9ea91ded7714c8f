import { expect, it } from 'vitest';
import { NOT_LOADED_CHARS_MAX, NOT_LOADED_MAX, problemParts, shownProblems } from './not-loaded.ts';

it('tells problems in one line each', () => {
  expect(shownProblems(['jobs/a.ts: SyntaxError: no\n  at line 3'])).toEqual([
    'jobs/a.ts: SyntaxError: no at line 3',
  ]);
});

it('shortens long texts and long lists', () => {
  const [long] = shownProblems([`jobs/a.ts: ${'x'.repeat(5_000)}`]);
  expect(long).toHaveLength(NOT_LOADED_CHARS_MAX);
  const many = shownProblems(Array.from({ length: 30 }, (_, at) => `jobs/${at}.ts: Error: no`));
  expect(many).toHaveLength(NOT_LOADED_MAX);
  expect(many.at(-1)).toBe('11 more files: see the log of the worker');
});

it('separates the file from the reason', () => {
  expect(problemParts('jobs/a.ts: Error: no')).toEqual({
    subject: 'jobs/a.ts',
    reason: 'Error: no',
  });
  expect(problemParts('11 more files')).toEqual({ subject: null, reason: '11 more files' });
});
