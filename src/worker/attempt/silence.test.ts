import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Silence } from './silence.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function silence(limitMs: number) {
  const seen = { silent: 0 };
  return { seen, watch: new Silence(limitMs, () => (seen.silent += 1)) };
}

test('reports a silence of the whole time, once', () => {
  const { seen } = silence(1_000);
  vi.advanceTimersByTime(999);
  expect(seen.silent).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(seen.silent).toBe(1);
});

test('each sign of life begins the time anew', () => {
  const { seen, watch } = silence(1_000);
  for (let round = 0; round < 10; round += 1) {
    vi.advanceTimersByTime(900);
    watch.sign();
  }
  expect(seen.silent).toBe(0);
  vi.advanceTimersByTime(1_001);
  expect(seen.silent).toBe(1);
});

test('a sign that is read after the timer ran, but in the same turn, counts', () => {
  const { seen, watch } = silence(1_000);
  setTimeout(() => watch.sign(), 1_000);
  vi.advanceTimersByTime(1_999);
  expect(seen.silent).toBe(0);
  vi.advanceTimersByTime(2);
  expect(seen.silent).toBe(1);
});

test('a silence that is over reports nothing', () => {
  const { seen, watch } = silence(1_000);
  watch.stop();
  watch.sign();
  vi.advanceTimersByTime(10_000);
  expect(seen.silent).toBe(0);
});
