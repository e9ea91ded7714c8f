import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeadlineExceeded, sleep, withDeadline } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const passMs = async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms));
const MONTH_MS = 30 * 24 * 3_600_000;

/** Whether a promise has settled by now, without waiting for it. */
function watch(work: Promise<unknown>): () => boolean {
  let settled = false;
  const mark = () => (settled = true);
  work.then(mark, mark);
  return () => settled;
}

describe('withDeadline', () => {
  it('hands through what came in time, and leaves no timer behind', async () => {
    await expect(withDeadline(Promise.resolve(7), 10, 'it')).resolves.toBe(7);
    await expect(withDeadline(Promise.reject(new Error('no')), 10, 'it')).rejects.toThrow('no');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects at the deadline, not before, and says what took too long', async () => {
    const late = withDeadline(new Promise(() => undefined), 250, 'the dinner');
    const settled = watch(late);
    await passMs(249);
    expect(settled()).toBe(false);
    await passMs(1);
    await expect(late).rejects.toThrow(DeadlineExceeded);
    await expect(late).rejects.toThrow('the dinner took longer than 250 ms');
  });

  it('takes a failure that comes after the deadline without a word', async () => {
    const work = Promise.withResolvers<never>();
    const late = withDeadline(work.promise, 10, 'it');
    const settled = watch(late);
    await passMs(10);
    work.reject(new Error('much later'));
    await passMs(0);
    expect(settled()).toBe(true);
    await expect(late).rejects.toThrow(DeadlineExceeded);
  });

  it('of a month does not end at once, as a plain timer would', async () => {
    const settled = watch(withDeadline(new Promise(() => undefined), MONTH_MS, 'it'));
    await passMs(3_600_000);
    expect(settled()).toBe(false);
  });
});

describe('sleep', () => {
  it.each([1, 250, 60_000])('of %i ms ends then, and not before', async (delayMs) => {
    const settled = watch(sleep(delayMs));
    await passMs(delayMs - 1);
    expect(settled()).toBe(false);
    await passMs(1);
    expect(settled()).toBe(true);
  });

  it('ends at once when the signal aborts, and leaves nothing behind', async () => {
    const { signal, abort } = abortable();
    const settled = watch(sleep(60_000, signal));
    await passMs(5);
    abort();
    await passMs(0);
    expect(settled()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not begin when the signal has aborted already', async () => {
    await sleep(60_000, AbortSignal.abort());
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets go of a signal that never aborted', async () => {
    const { signal } = abortable();
    const removed = vi.spyOn(signal, 'removeEventListener');
    const slept = sleep(10, signal);
    await passMs(10);
    await slept;
    expect(removed).toHaveBeenCalledTimes(1);
  });

  it('of a month does not end at once, as a plain timer would', async () => {
    const settled = watch(sleep(MONTH_MS));
    await passMs(3_600_000);
    expect(settled()).toBe(false);
  });
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
