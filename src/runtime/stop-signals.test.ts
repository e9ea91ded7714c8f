import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';
import { type StopSignal, stopRequests } from './stop-signals.ts';

test.each([
  ['one signal', [[0, 'SIGINT']], ['SIGINT at 0']],
  [
    'what npm passes on is the same request',
    [
      [0, 'SIGINT'],
      [50, 'SIGINT'],
      [999, 'SIGTERM'],
    ],
    ['SIGINT at 0'],
  ],
  [
    'a second request a second later',
    [
      [0, 'SIGTERM'],
      [600, 'SIGINT'],
      [1_000, 'SIGINT'],
      [1_050, 'SIGINT'],
    ],
    ['SIGTERM at 0', 'SIGINT at 1000'],
  ],
] satisfies [string, [number, StopSignal][], string[]][])('%s', (_name, signals, expected) => {
  let nowMs = 0;
  const heard: string[] = [];
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const onSignal = stopRequests(clock, (signal) => void heard.push(`${signal} at ${nowMs}`));
  for (const [atMs, signal] of signals) {
    nowMs = atMs;
    onSignal(signal);
  }
  expect(heard).toEqual(expected);
});
