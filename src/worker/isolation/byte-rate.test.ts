import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import { ByteRate, BYTES_PER_SECOND, Throttle } from './byte-rate.ts';

describe('how much may be said', () => {
  it("is a second's worth at once", () => {
    const rate = new ByteRate(1_000);
    expect(rate.spend(1_000, 0)).toBe(0);
    expect(rate.spend(500, 0)).toBe(500);
  });

  it('grows again as time goes by, but not beyond that', () => {
    const rate = new ByteRate(1_000);
    rate.spend(1_500, 0);
    expect(rate.spend(0, 500)).toBe(0);
    expect(rate.spend(1_000, 1_000_000)).toBe(0);
    expect(rate.spend(1, 1_000_000)).toBe(1);
  });

  it('is no matter for who stays below it', () => {
    const rate = new ByteRate(1_000);
    for (let ms = 0; ms < 100_000; ms += 10) expect(rate.spend(10, ms)).toBe(0);
  });
});

describe('a stream that brings too much', () => {
  it('is not read for a while, until it is forgiven', () => {
    const stream = new Readable({ read: () => undefined });
    stream.resume();
    const throttle = new Throttle(stream, systemClock);
    throttle.spend(BYTES_PER_SECOND / 2);
    expect([throttle.paused, stream.isPaused()]).toEqual([false, false]);
    throttle.spend(BYTES_PER_SECOND * 100);
    expect([throttle.paused, stream.isPaused()]).toEqual([true, true]);
    throttle.lift();
    expect([throttle.paused, stream.isPaused()]).toEqual([false, false]);
    throttle.spend(BYTES_PER_SECOND / 2);
    expect(throttle.paused).toBe(false);
  });
});
