import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { ShardPollers } from '../runtime/shard-pollers.ts';
import { type Db, DatabaseUnavailable } from '../store/connection/db.ts';
import type { Waker } from '../store/connection/wake.ts';
import { resolveAndRevive, REVIVAL_PAUSE_MS } from '../store/edges/revive-later.ts';
import { ALL_SHARDS, type ShardOrder } from './shard-order.ts';

const AT_ONCE = 1_000;
/** How many ends are tried one by one in a round. */
const ALONE = 20;
/** An end whose followers cannot be reached is tried again after this time. */
const SKIP_MS = 5_000;
const SKIPPED_MAX = 1_000;
const REST_MS = 3_600_000;

/**
 * Moves on what waited for ended jobs (`store/edges/resolve-ended.ts`), where there are several
 * shards: the job that waits may be in another one, which does not answer. Then the ends of this shard are
 * taken one by one, and those that cannot be resolved are left for later, so that neither the other
 * ends nor the promoter wait for that shard. The promoter wakes it.
 */
export function resolver(
  db: Db,
  waker: Waker,
  clock: Clock,
  log: Log,
  shardOrder: ShardOrder = ALL_SHARDS,
): ShardPollers {
  /** By shard: ends to skip, and until when. */
  const skips = Array.from({ length: db.shards }, () => new Map<string, number>());

  return new ShardPollers({
    name: 'resolver',
    log,
    shards: db.shards,
    tick: async (shard) => {
      return (await shardOrder.take(shard, async () => await resolve(shard))) ?? REST_MS;
    },
  });

  function skippedIn(shard: number): string[] {
    const skipped = skips[shard] ?? new Map<string, number>();
    const nowMs = clock.monotonicMs();
    for (const [id, untilMs] of skipped) if (untilMs <= nowMs) skipped.delete(id);
    return [...skipped.keys()];
  }

  /** Returns the time until the next round. */
  async function resolve(shard: number): Promise<number> {
    try {
      const skipped = skippedIn(shard);
      const { levels, more, pauses } = await resolveAndRevive(db, shard, AT_ONCE, { skipped });
      waker.wake(levels);
      return restMs(more, pauses);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      return await oneByOne(shard);
    }
  }

  async function oneByOne(shard: number): Promise<number> {
    for (let n = 0; n < ALONE; n += 1) {
      const skipped = skippedIn(shard);
      if (skipped.length >= SKIPPED_MAX) return REST_MS;
      let taken: string[] = [];
      const onTaken = (ids: string[]) => (taken = ids);
      try {
        const { levels, more, pauses } = await resolveAndRevive(db, shard, 1, { skipped, onTaken });
        waker.wake(levels);
        if (!more || pauses) return restMs(more, pauses);
      } catch (error) {
        const [id] = taken;
        // This shard itself does not answer.
        if (id === undefined) throw error;
        skips[shard]?.set(id, clock.monotonicMs() + SKIP_MS);
      }
    }
    return 0;
  }
}

function restMs(more: boolean, pauses: boolean): number {
  if (pauses) return REVIVAL_PAUSE_MS;
  return more ? 0 : REST_MS;
}
