import { expect, test } from 'vitest';
import { mayServe } from './key-patterns.ts';

test.each([
  [null, 'anything', true],
  [[], 'anything', false],
  [['report.build'], 'report.build', true],
  [['report.build'], 'report.builder', false],
  [['report.*'], 'report.build', true],
  [['report.*'], 'report.', true],
  [['report.*'], 'reports.build', false],
  [['*.build'], 'report.build', true],
  [['*.build'], 'report.build.x', false],
  [['a*b*c'], 'a-b-c', true],
  [['a*b*c'], 'acb', false],
  [['aba*ba'], 'aba', false],
  [['x', 'mail.*'], 'mail.send', true],
  [['*'], 'mail.send', true],
])('%j serves %s: %s', (patterns, key, expected) => {
  expect(mayServe(patterns, key)).toBe(expected);
});
