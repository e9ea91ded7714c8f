import { expect, test } from 'vitest';
import { type Bucket, takeToken } from './token-bucket.ts';

const RULE = { perSecond: 2, burst: 3 };

test('a bucket allows its burst at once, and then its rate', () => {
  let bucket: Bucket | undefined;
  const take = (nowMs: number) => {
    const taken = takeToken(bucket, RULE, nowMs);
    ({ bucket } = taken);
    const { allowed, remaining, retryAfterMs } = taken;
    return { allowed, remaining, retryAfterMs };
  };
  expect(take(0)).toEqual({ allowed: true, remaining: 2, retryAfterMs: 0 });
  expect(take(0)).toEqual({ allowed: true, remaining: 1, retryAfterMs: 0 });
  expect(take(0)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 500 });
  expect(take(0)).toEqual({ allowed: false, remaining: 0, retryAfterMs: 500 });
  expect(take(400)).toEqual({ allowed: false, remaining: 0, retryAfterMs: 100 });
  expect(take(500)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 500 });
  // It saves no more than its burst, and a clock that goes back takes nothing away.
  expect(take(100_000)).toMatchObject({ remaining: 2 });
  expect(take(99_000)).toMatchObject({ allowed: true, remaining: 1 });
});
