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
 * Finds workers without heartbeats in Redis and asks them to renew their lease
 * (`suspect-workers.ts`). An emptied Redis causes one renewal per worker; a Redis that still
 * remembers a dead worker delays the question, and the long lease decides.
 *
 * Every worker process does this, so it needs no scheduler role; the interval grows with the number
 * of workers and is jittered, so that together they check about once per heartbeat.
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
        log.info(asked, 'heartbeats of a worker are missing; asking it to renew its lease');
      }
      return delayMs;
    },
  });
}
