import { expect, it } from 'vitest';
import { Hold } from './hold.ts';

/** How long outcomes wait that end then. */
function begun(hold: Hold, nowMs: number): number {
  hold.begin(nowMs);
  return hold.leftMs(nowMs);
}

/** A hold after two claims that were this far apart; the last one was at 0. */
function after(gapMs: number): Hold {
  const hold = new Hold();
  hold.claimed(-gapMs);
  hold.claimed(0);
  return hold;
}

it('waits three milliseconds after claims that came close together', () => {
  const hold = after(2);
  expect(begun(hold, 1)).toBe(3);
  expect(begun(hold, 2)).toBe(2);
  expect(begun(hold, 4)).toBe(0);
  expect(begun(hold, 9)).toBe(0);
});

it('begins to wait only by a call of begin', () => {
  const hold = after(2);
  expect([hold.leftMs(1), hold.holds]).toEqual([0, false]);
});

it('does not wait for the first job, nor where jobs come alone or run for long', () => {
  const hold = new Hold();
  hold.claimed(0);
  expect(begun(hold, 1)).toBe(0);
  expect(begun(after(9), 1)).toBe(0);
  expect(begun(after(2), 9)).toBe(0);
});

it('waits less and less often where it is in vain, and always again after a success', () => {
  const hold = after(2);
  let waited = 0;
  const settle = (joined: boolean) => {
    const waits = begun(hold, 1) > 0;
    if (waits) waited += 1;
    hold.ended(joined && waits);
    return waits;
  };
  for (let n = 0; n < 1_000; n += 1) settle(false);
  expect(waited).toBeLessThan(25);
  while (!settle(true));
  expect([settle(true), settle(true), settle(true)]).toEqual([true, true, true]);
});
