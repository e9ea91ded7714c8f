import { expect, it, test } from 'vitest';
import { madeGroup } from '../made.fixture.ts';
import { errorName, matrixRows, shadeOf } from './matrix.ts';

it('has a row for each definition and mistake, those of a definition together', () => {
  const groups = [
    madeGroup({
      fingerprint: 'often',
      count: 9,
      definitions: [
        { definitionKey: 'mail', count: 5, trend: [5, 0] },
        { definitionKey: 'report', count: 4, trend: [1, 3] },
      ],
    }),
    madeGroup({
      fingerprint: 'rare',
      count: 3,
      definitions: [{ definitionKey: 'report', count: 3, trend: [0, 3] }],
    }),
  ];
  const rows = matrixRows(groups).map((row) => [row.definitionKey, row.fingerprint, row.counts]);
  expect(rows).toEqual([
    ['report', 'often', [1, 3]],
    ['report', 'rare', [0, 3]],
    ['mail', 'often', [5, 0]],
  ]);
  const one = matrixRows(groups, 'rare').map((row) => [row.definitionKey, row.fingerprint]);
  expect(one).toEqual([['report', 'rare']]);
});

test('the name of an error fits on a button', () => {
  const name = (message: string) => errorName(madeGroup({ code: 'TIMEOUT', message, cause: null }));
  expect(name('too slow\nmore')).toBe('TIMEOUT too slow');
  expect(name('x'.repeat(99))).toBe(`TIMEOUT ${'x'.repeat(51)}…`);
});

test.each([
  [0, 100, 0],
  [1, 100, 1],
  [10, 100, 3],
  [100, 100, 4],
  [1, 1, 4],
])('%i of at most %i has shade %i', (count, most, shade) =>
  expect(shadeOf(count, most)).toBe(shade),
);
