import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HANGS_MS, ROOM_WAIT_MS, TenantShare } from './tenant-share.ts';

const clock = { monotonicMs: () => performance.now() };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('gives each tenant so many, and the next one the place of one that ended', async () => {
  const share = new TenantShare(2, clock);
  const [one, two] = [await share.take('a'), await share.take('a')];
  expect(await share.take('b')).not.toBeNull();
  const [third, fourth] = [share.take('a'), share.take('a')];
  await vi.advanceTimersByTimeAsync(HANGS_MS - 1);
  one?.();
  expect(await third).not.toBeNull();
  // One has moved on, so the other waits for longer.
  await vi.advanceTimersByTimeAsync(HANGS_MS - 1);
  two?.();
  expect(await fourth).not.toBeNull();
});

it('lets no delivery wait for longer than a second', async () => {
  const share = new TenantShare(1, clock);
  let leave = await share.take('a');
  const waits = Array.from({ length: 20 }, () => share.take('a'));
  for (let n = 0; n * 100 < ROOM_WAIT_MS; n += 1) {
    await vi.advanceTimersByTimeAsync(100);
    leave?.();
    leave = await waits[n]!;
    expect(leave === null).toBe((n + 1) * 100 >= ROOM_WAIT_MS);
  }
  expect(await Promise.all(waits.slice(10))).toEqual(Array.from({ length: 10 }, () => null));
});

it('lets no delivery wait for sends that hang', async () => {
  const share = new TenantShare(1, clock);
  const leave = await share.take('a');
  const second = share.take('a');
  await vi.advanceTimersByTimeAsync(HANGS_MS);
  expect(await second).toBeNull();
  expect(await share.take('a')).toBeNull();
  leave?.();
  expect(await share.take('a')).not.toBeNull();
});
