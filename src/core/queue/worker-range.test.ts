import { expect, test } from 'vitest';
import { parseWorkerRange } from './worker-range.ts';

test.each([
  ['1', { min: 1, max: 1 }],
  [' 3 ', { min: 3, max: 3 }],
  ['1..4', { min: 1, max: 4 }],
  ['2..64', { min: 2, max: 64 }],
  ['auto', { min: 1, max: 6 }],
  ['0', null],
  ['0..3', null],
  ['4..1', null],
  ['1..65', null],
  ['1..', null],
  ['..4', null],
  ['1-4', null],
  ['Auto', null],
  ['', null],
])('%j', (text, range) => {
  expect(parseWorkerRange(text, 6)).toEqual(range);
});

test('auto is one process on a machine of unknown size, and never too many', () => {
  expect(parseWorkerRange('auto', 0)).toEqual({ min: 1, max: 1 });
  expect(parseWorkerRange('auto', 500)).toEqual({ min: 1, max: 64 });
});
