import { DEFAULT_TENANT } from '../core/access/scope.ts';
import { definitionName } from '../core/definition/definition.ts';
import { homeShard } from '../core/queue/shard.ts';
import type { Config } from '../config/config.ts';
import type { TenantLimits } from '../enqueue/quotas.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { syncSchedules } from '../scheduler/sync-schedules.ts';
import type { LargeValues } from '../large/large-values.ts';
import type { Db } from '../store/connection/db.ts';
import type { Waker } from '../store/connection/wake.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import { postgresQueue } from '../worker/claim/postgres-queue.ts';

/** What an enqueue of this process refuses; by default nothing. */
export type SpawnSettings = Partial<TenantLimits & Pick<Config, 'unregistered'>>;

const NO_LIMITS: TenantLimits = {
  tenantQueuedMax: 0,
  tenantQueuedBytesMax: 0,
  tenantSchedulesMax: 0,
  tenantWebhooksMax: 0,
};

/** Stores children of jobs. What it needs is loaded with the first child: most workers see none. */
export function localSpawner(
  db: Db,
  waker: Waker,
  settings: SpawnSettings,
  large?: LargeValues,
): WorkerStore['spawn'] {
  let opened: Promise<WorkerStore['spawn']> | undefined;
  return async (shard, request) => {
    opened ??= open(db, waker, settings, large);
    return await (
      await opened
    )(shard, request);
  };
}

async function open(
  db: Db,
  waker: Waker,
  settings: SpawnSettings,
  large: LargeValues | undefined,
): Promise<WorkerStore['spawn']> {
  const [{ Enqueuer }, { Quotas }, { spawnJobs }] = await Promise.all([
    import('../enqueue/enqueuer.ts'),
    import('../enqueue/quotas.ts'),
    import('../enqueue/spawn-jobs.ts'),
  ]);
  const quotas = new Quotas(db, systemClock, { ...NO_LIMITS, ...settings });
  const requires = settings.unregistered === 'reject';
  const enqueuer = new Enqueuer(db, waker, systemClock, quotas, null, requires, large);
  return async (shard, { children, ...parent }) =>
    await spawnJobs(db, enqueuer, { shard, ...parent }, children);
}

/**
 * The queue of a worker with a direct database connection. It publishes what the worker has loaded:
 * to the API as definitions, to schedulers as their schedules, and with the worker itself, so that
 * a job without any live worker for it can be recognized.
 */
export function localQueue(
  db: Db,
  reserved: Db,
  waker: Waker,
  settings: SpawnSettings,
  log: Log,
  large?: LargeValues,
): WorkerStore {
  const spawn = localSpawner(db, waker, settings, large);
  let report: ((problem: string) => void) | undefined;
  const queue = postgresQueue(db, reserved, waker, spawn, large, async (shard, definitions) => {
    const here = definitions.filter(
      ({ key }) => homeShard(DEFAULT_TENANT, key, db.shards) === shard,
    );
    if (here.length > 0) await syncSchedules({ db, ids: db.ids, log, onProblem: report }, here);
  });
  let served: string[] = [];
  return {
    ...queue,
    publish: async (definitions, onProblem) => {
      served = definitions.map(definitionName);
      report = onProblem;
      await queue.publish(definitions);
    },
    announce: async (shard, instance, definitions) => {
      served = definitions.map(definitionName);
      await queue.announce(shard, instance, definitions);
    },
    register: async (shard, worker) =>
      await queue.register(shard, { ...worker, definitions: served }),
  };
}
