import { NO_USAGE } from '../core/job.ts';
import { decide, DEFAULT_RULES } from '../core/lifecycle.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Db } from '../store/db.ts';
import { withPartitions } from '../store/partitions.ts';
import { settle } from '../store/settle.ts';
import type { Waker } from '../store/wake.ts';
import { buryWorkers, findOrphans, forgetWorkers, type OrphanRow } from '../store/workers.ts';
import { allShards, type ShardTurns } from './shard-turns.ts';

const BATCH = 500;

/**
 * Brings back the jobs of workers that are gone. It declares a worker dead when its lease is over,
 * which is one-way, and then settles its claims as lost through the same decision and the same
 * fenced write as any other outcome: a worker that finishes at the same moment either wins or is
 * refused, and a job is never brought back twice. It keeps looking at dead workers, because a claim
 * that was under way when its worker was declared dead may commit late.
 */
export function reaper(
  db: Db,
  waker: Waker,
  clock: Clock,
  pollMs: number,
  log: Log,
  turns: ShardTurns = allShards(db.shards),
): Poller {
  return new Poller({
    name: 'reaper',
    log,
    tick: async () => {
      let full = false;
      for (const shard of turns()) {
        for (const worker of await buryWorkers(db, shard)) {
          log.warn({ worker }, 'a worker stopped renewing its lease and was declared dead');
        }
        const orphans = await findOrphans(db, shard, BATCH);
        if (orphans.length > 0) await bringBack(shard, orphans);
        full ||= orphans.length === BATCH;
        await forgetWorkers(db, shard);
      }
      return full ? 0 : pollMs;
    },
  });

  async function bringBack(shard: number, orphans: readonly OrphanRow[]): Promise<void> {
    const settlements = orphans.map((row) => {
      const message = `worker ${row.worker} (${row.host}, pid ${row.pid}) lost its lease`;
      const outcome = { kind: 'lost', message } as const;
      const transition = decide({ ...row, ...DEFAULT_RULES }, outcome, clock.random());
      return { id: row.id, claim: row.claim, was: row.state, transition, usage: NO_USAGE };
    });
    const settled = await withPartitions(db, async () => await settle(db, shard, settlements));
    waker.wake(settled.flatMap(({ lines }) => lines));
    for (const { id } of settled) log.warn({ jobId: id, code: 'LEASE_EXPIRED' }, 'job.reclaimed');
  }
}
