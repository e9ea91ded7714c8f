import { expect, test } from 'vitest';
import { DELIVERY_DELAYS_MS, isDelivered, shouldPause } from './webhook.ts';

const HOUR_MS = 3_600_000;

test.each([
  [200, true],
  [204, true],
  [299, true],
  [199, false],
  [300, false],
  [410, false],
  [500, false],
  [null, false],
])('an answer of %j has arrived: %j', (status, expected) => {
  expect(isDelivered({ status })).toBe(expected);
});

test.each([
  [5, 24 * HOUR_MS, true],
  [100, 24 * HOUR_MS - 1, false],
  [4, 240 * HOUR_MS, false],
])('%i failures in a row over %i ms pause a webhook: %j', (failures, failingMs, expected) => {
  expect(shouldPause({ failures, failingMs })).toBe(expected);
});

test('a delivery is tried for days, ever more slowly', () => {
  expect(DELIVERY_DELAYS_MS).toEqual(DELIVERY_DELAYS_MS.toSorted((a, b) => a - b));
  const hours = DELIVERY_DELAYS_MS.reduce((sum, delayMs) => sum + delayMs, 0) / HOUR_MS;
  expect(hours).toBeGreaterThan(72);
});
