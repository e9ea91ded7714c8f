import { describe, expect, test } from 'vitest';
import { type FleetState, nextFleet, wantedWorkers } from './fleet-size.ts';

const PATIENCE = { growMs: 5_000, shrinkMs: 60_000 };

test.each([
  [0, 1],
  [1, 1],
  [8, 1],
  [9, 2],
  [25, 4],
  [1_000, 4],
])('%i slots of 8 are %i workers of 1 to 4', (slots, workers) => {
  expect(wantedWorkers(slots, 8, { min: 1, max: 4 })).toBe(workers);
});

/** The sizes at each second, for the numbers wanted at each second. */
function sizes(size: number, wanted: readonly number[]): number[] {
  let state: FleetState = { size, trend: null };
  return wanted.map((now, second) => {
    state = nextFleet(state, now, second * 1_000, PATIENCE);
    return state.size;
  });
}

const many = (times: number, value: number) => Array.from({ length: times }, () => value);

describe('the size of a fleet', () => {
  test.each<[what: string, size: number, wanted: number[], sizes: number[]]>([
    ['stays when it is right', 2, many(3, 2), [2, 2, 2]],
    ['grows after five seconds', 1, many(7, 3), [1, 1, 1, 1, 1, 3, 3]],
    ['grows to what was always wanted', 1, [4, 3, 2, 3, 4, 4], [1, 1, 1, 1, 1, 2]],
    ['ignores a burst', 1, [4, 4, 4, 1, 4, 4, 4, 1], many(8, 1)],
    ['ignores a calm', 3, [...many(59, 1), 3, ...many(59, 1), 3], many(120, 3)],
    ['shrinks after a minute', 3, many(62, 1), [...many(60, 3), 1, 1]],
    ['shrinks to the most that was wanted', 4, [1, 3, ...many(59, 1)], [...many(60, 4), 3]],
    ['begins anew when it turns', 2, [...many(59, 1), 3, 3, 3, 3, 3, 3], [...many(64, 2), 3]],
    ['does not flap around its size', 2, [1, 3, 1, 3, 1, 3, 1, 3], many(8, 2)],
  ])('%s', (_, size, wanted, expected) => {
    expect(sizes(size, wanted)).toEqual(expected);
  });
});
