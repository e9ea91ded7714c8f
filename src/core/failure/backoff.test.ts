import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { DEFAULT_RETRY, RETRY_AFTER_MAX_MS, RETRY_PRESETS, retryDelayMs } from './backoff.ts';

const MIDDLE = 0.5; // The draw at which jitter changes nothing.
const exact = { baseMs: 1_000, maxMs: 60_000, jitter: 0 };

describe('the doubling delay', () => {
  test.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [6, 32_000],
    [7, 60_000],
    [8, 60_000],
    [1_000, 60_000],
    [Number.MAX_SAFE_INTEGER, 60_000],
  ])('after attempt %i is %i ms', (attempt, delayMs) => {
    expect(retryDelayMs(exact, attempt, null, MIDDLE)).toBe(delayMs);
  });

  it.each([
    [0, 900],
    [0.25, 950],
    [MIDDLE, 1_000],
    [0.75, 1_050],
    [1 - Number.EPSILON, 1_100],
  ])('is spread by a tenth when the draw is %d', (random, delayMs) => {
    expect(retryDelayMs(DEFAULT_RETRY, 1, null, random)).toBe(delayMs);
  });

  it('is a second, doubling up to a minute, unless a definition says otherwise', () => {
    expect(DEFAULT_RETRY).toEqual({ baseMs: 1_000, maxMs: 60_000, jitter: 0.1 });
  });

  it('stays at the cap when the base is above it', () => {
    expect(retryDelayMs({ baseMs: 5_000, maxMs: 300, jitter: 1 }, 1, null, 0.99)).toBe(300);
  });
});

describe('a list of delays', () => {
  const list = { delaysMs: [10, 500, 200], jitter: 0 };

  test.each([
    [1, 10],
    [2, 500],
    [3, 200],
    [4, 200],
    [99, 200],
  ])('gives after attempt %i %i ms: the last repeats', (attempt, delayMs) => {
    expect(retryDelayMs(list, attempt, null, MIDDLE)).toBe(delayMs);
  });

  it('is spread by its jitter too', () => {
    expect(retryDelayMs({ ...list, jitter: 0.5 }, 2, null, 0)).toBe(250);
  });
});

describe('Retry-After', () => {
  test.each([
    [0, 0],
    [1, 1],
    [3_600_000, 3_600_000],
    [RETRY_AFTER_MAX_MS, 86_400_000],
    [RETRY_AFTER_MAX_MS + 1, 86_400_000],
    [Number.POSITIVE_INFINITY, 86_400_000],
    [-5, 0],
  ])('of %d ms wins over the policy and gives %i', (retryAfterMs, delayMs) => {
    expect(retryDelayMs(DEFAULT_RETRY, 3, retryAfterMs, 0.9)).toBe(delayMs);
    expect(retryDelayMs({ delaysMs: [7], jitter: 1 }, 3, retryAfterMs, 0.9)).toBe(delayMs);
  });
});

test('the presets wait as they are documented to', () => {
  const waits = Object.entries(RETRY_PRESETS).map(([name, { retry, maxAttempts }]) => {
    const failures = Array.from({ length: maxAttempts - 1 }, (_, index) => index + 1);
    return [name, failures.map((attempt) => retryDelayMs(retry, attempt, null, MIDDLE))];
  });
  expect(Object.fromEntries(waits)).toEqual({
    webhook: [1_000, 2_000, 4_000, 8_000],
    report: [30_000, 60_000],
    cleanup: [300_000],
  });
});

describe('for any policy', () => {
  const ms = fc.integer({ min: 0, max: 366 * 24 * 3_600_000 });
  const jitter = fc.double({ min: 0, max: 1, noNaN: true });
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const attempt = fc.integer({ min: 1, max: 2_000 });
  const doubling = fc.record({ baseMs: ms, maxMs: ms, jitter });
  const list = fc.record({ delaysMs: fc.array(ms, { minLength: 1, maxLength: 5 }), jitter });

  it('the delay is within its jitter of the plain one and never beyond the cap', () => {
    fc.assert(
      fc.property(doubling, attempt, random, (policy, number, draw) => {
        const plainMs = retryDelayMs({ ...policy, jitter: 0 }, number, null, draw);
        const delayMs = retryDelayMs(policy, number, null, draw);
        expect(plainMs).toBe(Math.min(policy.maxMs, policy.baseMs * 2 ** Math.min(40, number - 1)));
        expect(delayMs).toBeGreaterThanOrEqual(Math.floor(plainMs * (1 - policy.jitter)));
        expect(delayMs).toBeLessThanOrEqual(Math.ceil(plainMs * (1 + policy.jitter)));
        expect(delayMs).toBeLessThanOrEqual(policy.maxMs);
      }),
    );
  });

  it('the delay is a whole number, and without jitter no failure shortens it', () => {
    fc.assert(
      fc.property(fc.oneof(doubling, list), attempt, random, (policy, number, draw) => {
        const delayMs = retryDelayMs(policy, number, null, draw);
        expect(Number.isSafeInteger(delayMs) && delayMs >= 0).toBe(true);
        if ('delaysMs' in policy) return;
        const calm = { ...policy, jitter: 0 };
        const nextMs = retryDelayMs(calm, number + 1, null, draw);
        expect(nextMs).toBeGreaterThanOrEqual(retryDelayMs(calm, number, null, draw));
      }),
    );
  });

  it('a Retry-After is honoured to the millisecond up to a day', () => {
    fc.assert(
      fc.property(fc.oneof(doubling, list), attempt, ms, random, (policy, number, after, draw) => {
        expect(retryDelayMs(policy, number, after, draw)).toBe(Math.min(86_400_000, after));
      }),
    );
  });
});
