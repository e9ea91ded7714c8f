import { definitionName } from '../core/definition/definition.ts';
import type { Log } from '../runtime/log.ts';
import { syncSchedules } from '../scheduler/sync-schedules.ts';
import type { LargeValues } from '../large/large-values.ts';
import type { Db } from '../store/connection/db.ts';
import type { Waker } from '../store/connection/wake.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import { postgresQueue } from '../worker/claim/postgres-queue.ts';

/**
 * The queue of a worker with a direct database connection. It publishes what the worker has loaded:
 * to the API as definitions, to schedulers as their schedules, and with the worker itself, so that
 * a job without any live worker for it can be recognized.
 */
export function localQueue(
  db: Db,
  reserved: Db,
  waker: Waker,
  log: Log,
  large?: LargeValues,
): WorkerStore {
  const queue = postgresQueue(db, reserved, waker, large);
  let served: string[] = [];
  return {
    ...queue,
    publish: async (definitions) => {
      served = definitions.map(definitionName);
      await queue.publish(definitions);
      await syncSchedules({ db, ids: db.ids, log }, definitions);
    },
    announce: async (shard, instance, definitions) => {
      served = definitions.map(definitionName);
      await queue.announce(shard, instance, definitions);
    },
    register: async (shard, worker) =>
      await queue.register(shard, { ...worker, definitions: served }),
  };
}
