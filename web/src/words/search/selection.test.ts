import { expect, it } from 'vitest';
import { NO_SELECTION, SELECTED_MAX, type Selection, toggled, toggledAll } from './selection.ts';

const ROWS = ['a', 'b', 'c', 'd', 'e'];
const ids = (selection: Selection) => [...selection.ids].sort().join('');

it('selects and clears rows, one by one and as a range in both directions', () => {
  let selection = toggled(NO_SELECTION, ROWS, 'd', false);
  selection = toggled(selection, ROWS, 'b', true);
  expect(ids(selection)).toBe('bcd');
  selection = toggled(selection, ROWS, 'e', true);
  expect(ids(selection)).toBe('bcde');
  selection = toggled(selection, ROWS, 'c', true);
  expect(ids(selection)).toBe('b');
});

it('takes one row when the anchor is gone', () => {
  const gone = { ids: new Set(['x']), anchor: 'x' };
  expect(ids(toggled(gone, ROWS, 'c', true))).toBe('cx');
});

it('selects all, then none', () => {
  const all = toggledAll(toggled(NO_SELECTION, ROWS, 'a', false), ROWS);
  expect(ids(all)).toBe('abcde');
  expect(ids(toggledAll(all, ROWS))).toBe('');
});

it('has a bound', () => {
  const many = Array.from({ length: SELECTED_MAX + 5 }, (_, n) => String(n));
  expect(toggledAll(NO_SELECTION, many).ids.size).toBe(SELECTED_MAX);
});
