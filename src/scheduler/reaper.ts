import { NO_USAGE } from '../core/job/job.ts';
import type { BeatTiming } from '../core/queue/lease.ts';
import { decide, DEFAULT_RULES } from '../core/job/lifecycle.ts';
import type { Beats } from '../liveness/beats.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { ShardPollers } from '../runtime/shard-pollers.ts';
import { fieldsOf, JobLog } from '../signals/job-log.ts';
import type { Db } from '../store/connection/db.ts';
import { inHalves } from '../store/connection/in-halves.ts';
import { withPartitions } from '../store/connection/partitions.ts';
import { settle } from '../store/claim/settle.ts';
import type { Waker } from '../store/connection/wake.ts';
import { findLate } from '../store/workers/suspect-workers.ts';
import {
  buryWorkers,
  findOrphans,
  forgetWorkers,
  type OrphanRow,
  type Spared,
} from '../store/workers/workers.ts';
import { beatingAmong } from './beat-check.ts';
import { ALL_SHARDS, type ShardOrder } from './shard-order.ts';

const BATCH = 500;
/** The interval at which workers are forgotten that died long ago. */
const FORGET_MS = 60_000;

export interface ReaperOptions {
  db: Db;
  waker: Waker;
  clock: Clock;
  pollMs: number;
  /** The pause where a lookout wakes it (`lookout.ts`). */
  restMs?: number;
  /** The pause before its first tick. */
  firstMs?: number;
  log: Log;
  /** The shards to poll each time; all of them by default. */
  shardOrder?: ShardOrder;
  /** Which jobs get log lines (`core/views/job-log.ts`). */
  logJobs?: string | undefined;
  beating?: { beats: Beats; timing: BeatTiming } | null;
}

/**
 * Recovers the jobs of dead workers. It declares a worker dead when its lease has expired, which is
 * final, and settles its claims as lost through the same decision and the same fenced write as any
 * other outcome: a worker that finishes at the same moment either wins or is refused, and a job is
 * never recovered twice. It keeps polling dead workers, because a claim in flight may commit late.
 * A job that cannot be written is logged once and left: it does not stop the others.
 */
export function reaper(options: ReaperOptions): ShardPollers {
  const { db, waker, clock, pollMs, log, beating = null } = options;
  const { restMs = pollMs } = options;
  const shardOrder = options.shardOrder ?? ALL_SHARDS;
  const refused = new Set<string>();
  const forgetAtMs = new Map<number, number>();
  const jobLog = new JobLog(log, options.logJobs);
  return new ShardPollers({
    name: 'reaper',
    log,
    shards: db.shards,
    firstMs: options.firstMs,
    // After an outage jobs wait for this, so it is retried at the usual interval.
    maxRetryMs: Math.max(200, pollMs),
    tick: async (shard) => {
      const full = await shardOrder.take(shard, async () => await reap(shard));
      return full ? 0 : restMs;
    },
  });

  /** True when there may be more. */
  async function reap(shard: number): Promise<boolean> {
    for (const worker of await buryWorkers(db, shard, await spared(shard))) {
      log.warn({ worker }, 'declared a worker dead: its lease expired');
    }
    const orphans = await findOrphans(db, shard, BATCH);
    const settled = orphans.length > 0 ? await bringBackAll(shard, orphans) : 0;
    if (clock.monotonicMs() >= (forgetAtMs.get(shard) ?? 0)) {
      forgetAtMs.set(shard, clock.monotonicMs() + FORGET_MS);
      await forgetWorkers(db, shard);
    }
    return orphans.length === BATCH && settled > 0;
  }

  /**
   * A worker with a Redis heartbeat is alive although its lease has expired, as when the database
   * clock jumped ahead: it gets time to renew or to stop by itself. No longer, because Redis also
   * remembers dead workers.
   */
  async function spared(shard: number): Promise<Spared | undefined> {
    if (!beating) return undefined;
    const late = await findLate(db, shard);
    if (late.length === 0) return undefined;
    const alive = (await beatingAmong(late, beating.beats, log)) ?? new Set();
    return { workers: [...alive], forMs: beating.timing.ttlMs };
  }

  async function bringBackAll(shard: number, orphans: readonly OrphanRow[]): Promise<number> {
    let settled = 0;
    const write = async (part: readonly OrphanRow[]) => {
      const count = await bringBack(shard, part);
      settled += count;
    };
    await inHalves(orphans, write, complainOnce);
    return settled;
  }

  function complainOnce(row: OrphanRow, error: unknown): void {
    const name = `${row.id} ${row.claim}`;
    if (refused.has(name)) return;
    refused.add(name);
    const facts = fieldsOf({ ...row, jobId: row.id, attempt: row.attempts });
    log.error({ ...facts, err: error }, 'cannot recover a job of a dead worker');
  }

  async function bringBack(shard: number, orphans: readonly OrphanRow[]): Promise<number> {
    const settlements = orphans.map((row) => {
      const message = `its worker ${row.host} (pid ${row.pid}) died: no heartbeat in time`;
      const outcome = { kind: 'lost', message } as const;
      const transition = decide({ ...row, ...DEFAULT_RULES }, outcome, clock.random());
      return { id: row.id, claim: row.claim, was: row.state, transition, usage: NO_USAGE };
    });
    const settled = await withPartitions(db, async () => await settle(db, shard, settlements));
    waker.wake(settled.flatMap(({ levels }) => levels));
    const reclaimed = new Set(settled.map(({ id }) => id));
    for (const [index, row] of orphans.entries()) {
      if (!reclaimed.has(row.id)) continue;
      const next = settlements[index]?.transition.to;
      const more = { code: 'LEASE_EXPIRED', worker: row.worker, next };
      jobLog.failure({ ...row, jobId: row.id, attempt: row.attempts }, 'job.reclaimed', more);
    }
    return settled.length;
  }
}
