import { type Clock, systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Db } from '../store/db.ts';
import { SLEEP_MS_MAX } from '../store/due-hint.ts';
import { promote } from '../store/promote.ts';
import type { Waker } from '../store/wake.ts';
import { DuePoller } from './due-poller.ts';
import { allShards, type ShardTurns } from './shard-turns.ts';

const AT_ONCE = 1_000;

/** Moves jobs whose time has come into their lines, and sleeps until the next one is due. */
export function promoter(
  db: Db,
  waker: Waker,
  pollMs: number,
  log: Log,
  turns: ShardTurns = allShards(db.shards),
  clock: Clock = systemClock,
): DuePoller {
  return new DuePoller(clock, {
    name: 'promoter',
    log,
    tick: async () => {
      let delayMs = Math.min(pollMs, SLEEP_MS_MAX);
      for (const shard of turns()) {
        const { more, lines, nextDueMs } = await promote(db, shard, AT_ONCE);
        waker.wake(lines);
        if (more) delayMs = 0;
        else if (nextDueMs !== null) delayMs = Math.min(delayMs, Math.max(1, nextDueMs));
      }
      return delayMs;
    },
  });
}
