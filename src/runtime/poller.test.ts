import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from './log.ts';
import { Poller, type PollerOptions } from './poller.ts';

type Tick = PollerOptions['tick'];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const passMs = async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms));
const poller = (tick: Tick, more: Partial<PollerOptions> = {}) =>
  new Poller({ name: 'test', log: silentLog, tick, ...more });

/** A tick that lasts until the test ends it, so that a test can act in the middle of it. */
function heldTick(delayMs: number) {
  const limiters: PromiseWithResolvers<number>[] = [];
  const tick = vi.fn<Tick>(async () => {
    const limiter = Promise.withResolvers<number>();
    limiters.push(limiter);
    return await limiter.promise;
  });
  const end = async () => {
    limiters.at(-1)?.resolve(delayMs);
    await passMs(0);
  };
  return { tick, end };
}

describe('a poller', () => {
  it('pauses before its first tick where it should, until it is woken or stopped', async () => {
    const tick = vi.fn<Tick>(async () => 1_000);
    const late = poller(tick, { firstMs: 50 });
    late.wake();
    await late.start();
    await passMs(49);
    expect(tick).toHaveBeenCalledTimes(0);
    await passMs(1);
    expect(tick).toHaveBeenCalledTimes(1);
    await late.stop();
    await late.start();
    late.wake();
    await passMs(0);
    expect(tick).toHaveBeenCalledTimes(2);
    await late.stop();
    await late.start();
    await late.stop();
    await passMs(1_000);
    expect(tick).toHaveBeenCalledTimes(2);
  });

  it('ticks at once, and then after each delay that a tick asked for', async () => {
    const delaysMs = [100, 5];
    const tick = vi.fn<Tick>(async () => delaysMs.shift() ?? 1_000);
    await poller(tick).start();
    expect(tick).toHaveBeenCalledTimes(1);
    await passMs(99);
    expect(tick).toHaveBeenCalledTimes(1);
    await passMs(1);
    expect(tick).toHaveBeenCalledTimes(2);
    await passMs(5);
    expect(tick).toHaveBeenCalledTimes(3);
  });

  it('never overlaps a tick with the next one, however often it is woken or started', async () => {
    const { tick, end } = heldTick(10);
    const subject = poller(tick);
    await subject.start();
    await subject.start();
    subject.wake();
    subject.wake();
    await passMs(60_000);
    expect(tick).toHaveBeenCalledTimes(1);
    await end();
    expect(tick).toHaveBeenCalledTimes(2);
  });

  it('remembers a wake that came during a tick, once', async () => {
    const { tick, end } = heldTick(1_000);
    const subject = poller(tick);
    await subject.start();
    subject.wake();
    subject.wake();
    await end();
    expect(tick).toHaveBeenCalledTimes(2);
    await end();
    expect(tick).toHaveBeenCalledTimes(2);
  });

  it('waits to be woken when a tick asks for no other one', async () => {
    const tick = vi.fn<Tick>(async () => Number.POSITIVE_INFINITY);
    const subject = poller(tick);
    await subject.start();
    await passMs(60_000);
    expect(tick).toHaveBeenCalledTimes(1);
    subject.wake();
    await passMs(0);
    expect(tick).toHaveBeenCalledTimes(2);
  });

  it('ends its pause when it is woken', async () => {
    const tick = vi.fn<Tick>(async () => 1_000);
    const subject = poller(tick);
    await subject.start();
    await passMs(300);
    subject.wake();
    await passMs(0);
    expect(tick).toHaveBeenCalledTimes(2);
    await passMs(999);
    expect(tick).toHaveBeenCalledTimes(2);
    await passMs(1);
    expect(tick).toHaveBeenCalledTimes(3);
  });
});

describe('a failing tick', () => {
  it('is tried again after a pause that doubles up to its limit', async () => {
    const tick = vi.fn<Tick>(async () => await Promise.reject(new Error('no')));
    await poller(tick, { retryMs: 100, maxRetryMs: 350 }).start();
    let calls = 1;
    for (const pauseMs of [100, 200, 350, 350]) {
      await passMs(pauseMs - 1);
      expect(tick).toHaveBeenCalledTimes(calls);
      await passMs(1);
      expect(tick).toHaveBeenCalledTimes((calls += 1));
    }
  });

  it('recovers, is logged, and starts over with the short pause', async () => {
    const log = { ...silentLog, warn: vi.fn(), info: vi.fn() };
    const results = [new Error('one'), new Error('two'), 50, new Error('three')];
    const tick = vi.fn<Tick>(async () => {
      const next = results.shift() ?? 1_000;
      if (next instanceof Error) throw next;
      return next;
    });
    await poller(tick, { log: log as never, retryMs: 100 }).start();
    await passMs(100 + 200);
    expect(log.info.mock.lastCall).toEqual([
      expect.objectContaining({ service: 'test' }),
      'recovered',
    ]);
    await passMs(50);
    expect(log.warn).toHaveBeenCalledTimes(3);
    expect(log.warn.mock.lastCall?.[0]).toMatchObject({ service: 'test', failures: 1 });
    await passMs(100);
    expect(tick).toHaveBeenCalledTimes(5);
  });

  it('keeps its pause when a wake came during it, or hints would make it spin', async () => {
    const subject: Poller = poller(
      vi.fn<Tick>(async () => {
        calls += 1;
        subject.wake();
        throw new Error('no');
      }),
      { retryMs: 100 },
    );
    let calls = 0;
    await subject.start();
    await passMs(99);
    expect(calls).toBe(1);
    await passMs(1);
    expect(calls).toBe(2);
  });

  it('keeps its pause when it is woken in the midst of it', async () => {
    const tick = vi.fn<Tick>(async () => await Promise.reject(new Error('no')));
    const subject = poller(tick, { retryMs: 100 });
    await subject.start();
    await passMs(50);
    subject.wake();
    await passMs(49);
    expect(tick).toHaveBeenCalledTimes(1);
    await passMs(1);
    expect(tick).toHaveBeenCalledTimes(2);
  });

  it('may throw before its first await', async () => {
    const tick = vi.fn<Tick>(() => {
      throw new Error('no');
    });
    await poller(tick, { retryMs: 100 }).start();
    await passMs(100);
    expect(tick).toHaveBeenCalledTimes(2);
  });
});

describe('stop', () => {
  it('waits for the tick, tells it, and lets no other follow', async () => {
    const { tick, end } = heldTick(0);
    const subject = poller(tick);
    await subject.start();
    let stopped = false;
    const stopping = subject.stop().then(() => (stopped = true));
    await passMs(60_000);
    expect(stopped).toBe(false);
    expect(tick.mock.lastCall?.[0].aborted).toBe(true);
    await end();
    await stopping;
    await passMs(60_000);
    expect(tick).toHaveBeenCalledTimes(1);
  });

  it('ends a pause at once', async () => {
    const subject = poller(async () => 3_600_000);
    await subject.start();
    await passMs(1);
    await subject.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is safe before the start, twice, and before another start', async () => {
    const tick = vi.fn<Tick>(async () => 1_000);
    const subject = poller(tick);
    await subject.stop();
    await subject.start();
    await subject.stop();
    await subject.stop();
    expect(tick).toHaveBeenCalledTimes(1);
    await subject.start();
    await passMs(1_000);
    expect(tick).toHaveBeenCalledTimes(3);
    await subject.stop();
  });
});
