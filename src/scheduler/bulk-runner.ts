import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { nextBulkMs } from '../store/change/bulks.ts';
import type { Db } from '../store/connection/db.ts';
import { SLEEP_MS_MAX } from '../store/connection/due-hint.ts';
import { sendBeatHint } from '../store/connection/listen.ts';
import type { Waker } from '../store/connection/wake.ts';
import { runBatch } from './bulk-batch.ts';
import { DuePoller } from './due-poller.ts';

/** Another scheduler works on the due action; wait this long. */
const OTHERS_WORK_MS = 100;

/** Runs bulk actions, one batch at a time. Any number of schedulers may do so. */
export function bulkRunner(db: Db, waker: Waker, log: Log, clock: Clock): DuePoller {
  return new DuePoller(clock, {
    name: 'bulk runner',
    log,
    // A bulk action visits all shards itself.
    shards: 1,
    tick: async (_, signal) => {
      // Most of the time nothing is due, and this one question is all.
      let nextMs = (await nextBulkMs(db)) ?? SLEEP_MS_MAX;
      while (nextMs <= 0 && !signal.aborted) {
        const result = await runBatch(db);
        if (result === null) {
          nextMs = (await nextBulkMs(db)) ?? SLEEP_MS_MAX;
          break;
        }
        waker.wake(result.levels);
        for (const { shard, inMs } of result.due) waker.wakeScheduler(shard, [inMs]);
        for (const worker of result.workers) await sendBeatHint(db, worker).catch(() => undefined);
      }
      return Math.min(SLEEP_MS_MAX, Math.max(OTHERS_WORK_MS, nextMs));
    },
  });
}
