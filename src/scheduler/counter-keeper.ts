import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { ShardPollers } from '../runtime/shard-pollers.ts';
import type { Db } from '../store/connection/db.ts';
import { forgetCounters, hasDeltas, rollUpCounters } from '../store/counters/roll-up.ts';
import { ALL_SHARDS, type ShardOrder } from './shard-order.ts';

const EVERY_MS = 1_000;
const BATCH = 10_000;
/** A statement that commits later than this is found by the next roll-up without a floor. */
const LATE_MS = 5_000;
const LOW_LOOK_MS = 10_000;
/** A roll-up without a floor may be slow when vacuum is held back, so it must not run too often. */
const REST_FACTOR = 20;
const FORGET_MS = 600_000;
const THE_BEGINNING = '-infinity';

/**
 * Keeps the job counters (`store/counters/roll-up.ts`) at most a second behind. While nothing
 * happens, it only looks, and writes every ten seconds that the counters are up to date. Where a
 * lookout wakes it (`lookout.ts`), it looks by itself every `restMs` only.
 */
export function counterKeeper(
  db: Db,
  clock: Clock,
  log: Log,
  shardOrder: ShardOrder = ALL_SHARDS,
  restMs = EVERY_MS,
  firstMs = 0,
): ShardPollers {
  const floors = new Map<number, { at: string; lowPollMs: number }>();
  const forgetMs = new Map<number, number>();
  return new ShardPollers({
    name: 'counters keeper',
    log,
    shards: db.shards,
    firstMs,
    tick: async (shard, signal) => {
      await shardOrder.take(shard, async () => {
        await rollUp(shard, signal);
        if (clock.monotonicMs() < (forgetMs.get(shard) ?? 0)) return;
        await forgetCounters(db, shard);
        forgetMs.set(shard, clock.monotonicMs() + FORGET_MS);
      });
      return restMs;
    },
  });

  async function rollUp(shard: number, signal: AbortSignal): Promise<void> {
    const known = floors.get(shard);
    const low = !known || clock.monotonicMs() >= known.lowPollMs;
    let floor = low ? THE_BEGINNING : known.at;
    if (!low && !(await hasDeltas(db, shard, floor))) return;
    let reached = known?.at ?? THE_BEGINNING;
    let tookMs = 0;
    let rows: number;
    do {
      const rolledUp = await rollUpCounters(db, shard, floor, BATCH);
      rows = rolledUp.rows;
      tookMs += rolledUp.tookMs;
      if (rolledUp.latest !== null) floor = reached = before(rolledUp.latest);
    } while (rows === BATCH && !signal.aborted);
    const restMs = Math.max(LOW_LOOK_MS, REST_FACTOR * tookMs);
    const lowPollMs = low ? clock.monotonicMs() + restMs : known.lowPollMs;
    floors.set(shard, { at: reached, lowPollMs });
  }
}

function before(latest: string): string {
  return new Date(Date.parse(latest) - LATE_MS).toISOString();
}
