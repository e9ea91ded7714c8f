import { expect, test } from 'vitest';
import { silentLog } from '../runtime/log.ts';
import { DuePoller } from './due-poller.ts';

/** A loop that would sleep for an hour, under a clock that a test moves. */
function sleeper() {
  let nowMs = 0;
  const clock = { now: () => new Date(0), monotonicMs: () => nowMs, random: () => 0 };
  const rounds: (() => void)[] = [];
  let round = new Promise<void>((resolve) => rounds.push(resolve));
  let count = 0;
  const poller = new DuePoller(clock, {
    shards: 1,
    name: 'sleeper',
    log: silentLog,
    tick: async () => {
      count += 1;
      rounds.pop()?.();
      return 3_600_000;
    },
  });
  return {
    poller,
    count: () => count,
    move: (ms: number) => (nowMs += ms),
    nextRound: async () => {
      await round;
      round = new Promise<void>((resolve) => rounds.push(resolve));
    },
  };
}

/** The loop gets its shardOrder between these. */
const settle = async () => await new Promise<void>((resolve) => setImmediate(resolve));

test('a hint of something nearer ends the sleep, any other does not', async () => {
  const { poller, count, move, nextRound } = sleeper();
  await poller.start();
  await nextRound();
  await settle();
  poller.hint(3_600_001);
  await settle();
  expect(count()).toBe(1);
  move(3_000_000);
  poller.hint(700_000);
  await settle();
  expect(count()).toBe(1);
  poller.hint(500_000);
  await nextRound();
  expect(count()).toBe(2);
  await poller.stop();
});
