import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../../src/core/values/duration.ts';
import { positionIn, ticksOf, zoomTo } from './axis.ts';

const START_MS = 1_000_000;
const words = (lengthMs: number) =>
  ticksOf({ fromMs: START_MS, toMs: START_MS + lengthMs }, START_MS).map((tick) => tick.words);

test.each([
  [50, ['0', '10 ms', '20 ms', '30 ms', '40 ms', '50 ms']],
  [3_500, ['0', '1 s', '2 s', '3 s']],
  [2 * HOUR_MS, ['0', '30m', '1h', '1h30m', '2h']],
  [3 * DAY_MS, ['0', '12h', '1d', '1d12h', '2d', '2d12h', '3d']],
])('an axis of %d ms has round times', (lengthMs, expected) => {
  expect(words(lengthMs)).toEqual(expected);
});

test.each([1, 7, 999, 12_345, 86_399_999, 400 * DAY_MS])('%d ms have few marks', (lengthMs) => {
  expect(words(lengthMs).length).toBeLessThanOrEqual(7);
  expect(words(lengthMs).length).toBeGreaterThan(1);
});

test('a zoomed axis goes on counting from the start of the job', () => {
  const ticks = ticksOf({ fromMs: START_MS + 95, toMs: START_MS + 205 }, START_MS);
  expect(ticks.map((tick) => tick.words)).toEqual([
    '100 ms',
    '120 ms',
    '140 ms',
    '160 ms',
    '180 ms',
    '200 ms',
  ]);
  expect(ticks[0]?.left).toBeCloseTo(4.55, 1);
});

test('what is outside is not drawn, and what sticks out is cut', () => {
  const range = { fromMs: 100, toMs: 200 };
  expect(positionIn({ fromMs: 120, toMs: 130 }, range)).toEqual({ left: 20, width: 10 });
  expect(positionIn({ fromMs: 0, toMs: 150 }, range)).toEqual({ left: 0, width: 50 });
  expect(positionIn({ fromMs: 150, toMs: 150 }, range)).toEqual({ left: 50, width: 0 });
  expect(positionIn({ fromMs: 0, toMs: 99 }, range)).toBeNull();
  expect(positionIn({ fromMs: 201, toMs: 300 }, range)).toBeNull();
});

test('zooming leaves a little space, and stays inside the job', () => {
  const whole = { fromMs: 0, toMs: 1_000 };
  expect(zoomTo({ fromMs: 500, toMs: 600 }, whole)).toEqual({ fromMs: 498, toMs: 602 });
  expect(zoomTo({ fromMs: 0, toMs: 1_000 }, whole)).toEqual(whole);
});
