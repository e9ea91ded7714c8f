import { type Clock, systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { JobLog } from '../signals/job-log.ts';
import type { Db } from '../store/connection/db.ts';
import { SLEEP_MS_MAX } from '../store/connection/due-hint.ts';
import { expireJobs } from '../store/claim/expire.ts';
import { resolveAndRevive, REVIVAL_PAUSE_MS } from '../store/edges/revive-later.ts';
import { promote } from '../store/claim/promote.ts';
import type { Waker } from '../store/connection/wake.ts';
import { DuePoller } from './due-poller.ts';
import type { ShardPollers } from '../runtime/shard-pollers.ts';
import { ALL_SHARDS, type ShardOrder } from './shard-order.ts';

const AT_ONCE = 1_000;
/** Jobs that become due within this time are moved together. */
const TOGETHER_MS = 10;

/**
 * Moves due jobs into their levels, ends expired ones, moves on what waited for ended jobs, and sleeps until the
 * next one is due. Where there are several shards, it only wakes the loop that moves those on (`resolver.ts`).
 */
export function promoter(
  db: Db,
  waker: Waker,
  pollMs: number,
  log: Log,
  shardOrder: ShardOrder = ALL_SHARDS,
  clock: Clock = systemClock,
  logJobs?: string,
  resolving?: Pick<ShardPollers, 'wake'>,
): DuePoller {
  const jobLog = new JobLog(log, logJobs);
  return new DuePoller(clock, {
    name: 'promoter',
    log,
    shards: db.shards,
    tick: async (shard) => {
      const latestMs = clock.monotonicMs() + Math.min(pollMs, SLEEP_MS_MAX);
      const dueAtMs = await shardOrder.take(shard, async () => await promoteDue(shard));
      return Math.max(0, Math.min(latestMs, dueAtMs ?? Infinity) - clock.monotonicMs());
    },
  });

  /** Returns when the next one is due. */
  async function promoteDue(shard: number): Promise<number> {
    // Taken before the query, because the answer may take a while.
    const askedMs = clock.monotonicMs();
    const { more, ended, levels, nextDueMs } = await promote(db, shard, AT_ONCE);
    waker.wake(levels);
    const expiry = await expireJobs(db, shard, AT_ONCE);
    waker.wake(expiry.levels);
    for (const job of expiry.jobs) {
      const facts = { ...job, jobId: job.id };
      jobLog.failure(facts, 'job.failed', { code: 'EXPIRED', next: 'failed' });
    }
    const watched = ended || expiry.ids.length > 0;
    if (watched) resolving?.wake(shard);
    const resolved = watched && !resolving ? await resolveAndRevive(db, shard, AT_ONCE) : null;
    waker.wake(resolved?.levels ?? []);
    if (more || expiry.more || (resolved?.more && !resolved.pauses)) return askedMs;
    const nextMs = Math.min(nextDueMs ?? Infinity, expiry.nextMs ?? Infinity);
    const nextAtMs = askedMs + Math.max(TOGETHER_MS, nextMs);
    return resolved?.pauses ? Math.min(nextAtMs, clock.monotonicMs() + REVIVAL_PAUSE_MS) : nextAtMs;
  }
}
