import type { BeatTiming } from '../core/queue/lease.ts';
import type { Beats } from '../liveness/beats.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { ShardPollers } from '../runtime/shard-pollers.ts';
import type { Db } from '../store/connection/db.ts';
import { findBeating, suspectWorkers } from '../store/workers/suspect-workers.ts';
import { beatingAmong } from './beat-check.ts';

/**
 * Looks for workers whose beats are missing and puts the question to them (`suspect-workers.ts`). A
 * Redis that was emptied makes it ask everybody, which costs each worker one renewal; a Redis that
 * still remembers a dead worker makes it ask too late, and the long lease decides.
 *
 * Every worker process does this, so that no role need be started for it; each does it the less often
 * the more of them there are, and at odd moments, which together makes about once per beat.
 */
export function suspicion(
  db: Db,
  beats: Beats,
  { everyMs, ttlMs }: BeatTiming,
  clock: Clock,
  log: Log,
): Service {
  return new ShardPollers({
    name: 'suspicion',
    log,
    shards: db.shards,
    tick: async (shard) => {
      const workers = await findBeating(db, shard, ttlMs);
      const delayMs = everyMs * Math.max(1, workers.length) * (0.5 + clock.random());
      const samples = workers.filter(({ jobIds }) => jobIds.length > 0);
      const beating = await beatingAmong(samples, beats, log);
      if (beating === null) return delayMs;
      const silent = samples.map(({ worker }) => worker).filter((one) => !beating.has(one));
      for (const asked of await suspectWorkers(db, shard, silent)) {
        log.info(asked, 'the beats of a worker are missing; it is asked to renew its lease');
      }
      return delayMs;
    },
  });
}
