import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Db } from '../store/db.ts';
import { promote } from '../store/promote.ts';
import type { Waker } from '../store/wake.ts';

const AT_ONCE = 1_000;

/** Moves jobs whose time has come into their lines, and sleeps until the next one is due. */
export function promoter(db: Db, waker: Waker, pollMs: number, log: Log): Poller {
  return new Poller({
    name: 'promoter',
    log,
    tick: async () => {
      let delayMs = pollMs;
      for (let shard = 0; shard < db.shards; shard += 1) {
        const { promoted, lines, nextDueMs } = await promote(db, shard, AT_ONCE);
        waker.wake(lines);
        if (promoted === AT_ONCE) delayMs = 0;
        else if (nextDueMs !== null) delayMs = Math.min(delayMs, Math.max(1, nextDueMs));
      }
      return delayMs;
    },
  });
}
