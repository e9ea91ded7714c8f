import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  comparePositions,
  parsePosition,
  type HistoryPosition,
  positionText,
} from './history-position.ts';

const count = fc.nat(2_000_000_000);
const place = fc.tuple(count, count, count);

describe('a place', () => {
  it('is read back from its text', () => {
    fc.assert(
      fc.property(place, (one) => {
        expect(parsePosition(positionText(one))).toEqual(one);
      }),
    );
  });

  it('comes after another by its first counter, then its second, then its third', () => {
    const inOrder: HistoryPosition[] = [
      [0, 0, 0],
      [1, 0, 0],
      [1, 2, 9],
      [1, 2, 10],
      [1, 10, 0],
      [2, 0, 0],
      [10, 0, 0],
    ];
    expect(inOrder.toReversed().sort(comparePositions)).toEqual(inOrder);
    expect(comparePositions([1, 2, 3], [1, 2, 3])).toBe(0);
  });
});

test.each([
  ['', 'empty'],
  ['1-2', 'two counters'],
  ['1-2-3-4', 'four counters'],
  ['1-2--3', 'below zero'],
  ['1-2-3\n', 'a line end'],
  ['01-2-3', 'another text of the same place'],
  ['1-2-x', 'no number'],
  ['1-2-2000000001', 'more than anything counts to'],
])('"%s" is no place: %s', (text) => expect(parsePosition(text)).toBeNull());
