import { expect, test } from 'vitest';
import { start } from '../../test/support/cli.ts';
import type { StopSignal } from './cli.ts';
import { stopSignals } from './stop-signals.ts';

/** Sends signals at these times; returns those that the command heard, and the exits. */
function hear(signals: [atMs: number, signal: StopSignal][], cleansUp: boolean) {
  const { cli, exits } = start(['--version']);
  let nowMs = 0;
  cli.clock = { ...cli.clock, monotonicMs: () => nowMs };
  const heard: string[] = [];
  cli.onSignal = cleansUp ? (signal) => void heard.push(`${signal} at ${nowMs}`) : null;
  const onSignal = stopSignals(cli);
  for (const [atMs, signal] of signals) {
    nowMs = atMs;
    onSignal(signal);
  }
  return { heard, exits };
}

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
] satisfies [string, [number, StopSignal][], string[]][])('%s', (_name, signals, heard) => {
  expect(hear(signals, true)).toEqual({ heard, exits: [] });
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends a command that cleans nothing up with %i', (signal, code) => {
  expect(hear([[0, signal]], false)).toEqual({ heard: [], exits: [code] });
});
