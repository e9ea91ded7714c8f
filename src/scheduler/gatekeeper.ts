import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Db } from '../store/db.ts';
import { SWEEP_START, sweepGates } from '../store/sweep-gates.ts';
import type { Waker } from '../store/wake.ts';
import { allShards, type ShardTurns } from './shard-turns.ts';

const SLICE = 1_000;

/** Sees to it that no token of a limit stays unused while a job waits for it (`store/sweep-gates.ts`). */
export function gatekeeper(
  db: Db,
  waker: Waker,
  pollMs: number,
  log: Log,
  turns: ShardTurns = allShards(db.shards),
): Poller {
  const places = new Map<number, typeof SWEEP_START>();
  return new Poller({
    name: 'gatekeeper',
    log,
    tick: async () => {
      let more = false;
      for (const shard of turns()) {
        const swept = await sweepGates(db, shard, places.get(shard) ?? SWEEP_START, SLICE);
        places.set(shard, swept.place);
        waker.wake(swept.lines);
        more ||= swept.more;
      }
      return more ? 0 : pollMs;
    },
  });
}
