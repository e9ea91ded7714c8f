import { expect, test } from 'vitest';
import { PollInterval } from './poll-interval.ts';

const POLL_MS = 1_000;

/** How long after the last of these looks the next one is due. */
function pauseAfter(...tookMs: number[]): number {
  const pace = new PollInterval(POLL_MS);
  let nowMs = 0;
  for (const ms of tookMs) {
    pace.polled(nowMs, nowMs + ms);
    nowMs += ms;
  }
  let pauseMs = 0;
  while (!pace.isDue(nowMs + pauseMs)) pauseMs += 1;
  return pauseMs;
}

test.each([
  ['the first is due at once', [], 0],
  ['quick ones are a poll apart', [1, 1], POLL_MS],
  ['one that was held up says nothing', [1, 5_000], POLL_MS],
  ['dear ones take a twentieth of the time', [100, 100], 2_000],
  ['however dear, ten polls are the most', [60_000, 60_000], 10 * POLL_MS],
])('%s', (_, tookMs, pauseMs) => expect(pauseAfter(...tookMs)).toBe(pauseMs));

test('polls that find nothing become rarer, until a hint', () => {
  const pace = new PollInterval(POLL_MS, 8 * POLL_MS);
  const pauseMs = (nowMs: number) => {
    let ms = 0;
    while (!pace.isDue(nowMs + ms)) ms += 1;
    return ms;
  };
  const after = (found: boolean) => {
    pace.polled(0, 1, found);
    return pauseMs(1);
  };
  expect([after(true), after(false), after(false), after(false)]).toEqual([
    1_000, 1_000, 2_000, 4_000,
  ]);
  pace.hinted(1);
  expect(pauseMs(1)).toBe(POLL_MS);
  expect(after(false)).toBe(POLL_MS);
});
