import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { syncSchedules } from '../scheduler/sync-schedules.ts';
import type { Db } from '../store/connection/db.ts';
import { JobIds } from '../store/connection/job-ids.ts';
import type { Waker } from '../store/connection/wake.ts';
import type { QueuePort } from '../worker/claim/port.ts';
import { postgresQueue } from '../worker/claim/postgres-queue.ts';

/**
 * The queue of a worker with a database at hand. What it loaded becomes known in three ways: to the
 * API as definitions, to schedulers as the schedules in them, and with the worker itself, so that a
 * job which no living worker has the code for can be told from one that only waits its turn.
 */
export function localQueue(db: Db, reserved: Db, waker: Waker, log: Log): QueuePort {
  const queue = postgresQueue(db, reserved, waker);
  const ids = new JobIds(systemClock);
  let served: string[] = [];
  return {
    ...queue,
    publish: async (definitions) => {
      served = definitions.map(({ key, version }) => `${key}@${version}`);
      await queue.publish(definitions);
      await syncSchedules({ db, ids, log }, definitions);
    },
    register: async (shard, worker) =>
      await queue.register(shard, { ...worker, definitions: served }),
  };
}
