import { availableParallelism } from 'node:os';
import type { Base } from './assemble.ts';
import type { Config } from '../config/config.ts';
import { parseWorkerRange } from '../core/queue/worker-range.ts';
import { localApi } from './local-api.ts';
import { schedulerServices } from './local-scheduler.ts';
import { processMetrics } from '../metrics/metrics-server.ts';
import { openDatabase } from './open-database.ts';
import { runDue } from './run-due/run-due.ts';
import type { Log } from '../runtime/log.ts';
import { closing, stopAll } from '../runtime/service.ts';
import { type App, type Parts, startRole, summary } from './roles/start-role.ts';
import { workerParts } from './roles/worker-role.ts';
import { migrate } from '../store/connection/migrate.ts';
import type { WorkerRole } from './worker-child.ts';
import { WorkerFleet } from './worker-fleet.ts';

/**
 * The composition root: from a configuration to running services. It decides nothing about jobs. Services
 * start in the order of the list and stop in reverse, so what others need is listed first: the database
 * stops last, and the API stops after the worker.
 */

export type { App, AppSummary } from './roles/start-role.ts';
export { type Check, diagnose } from './diagnose.ts';
export { encryptionApp } from './encryption-app.ts';
export { startIngest } from './ingest/ingest-app.ts';
export { withKeyDesk } from './keys-app.ts';
export { AppError } from './open-database.ts';
export { type RemoteServer, startRemoteWorker } from './remote-worker-app.ts';
export { runDueApp } from './run-due/run-due-app.ts';

export type Role = 'start' | 'api' | 'worker' | 'scheduler';
type Part = Role | WorkerRole;

/** Rejects with a `StartRefusal` for what a restart cannot fix, or on the signal; retries everything else. */
export async function startApp(
  config: Config,
  role: Part,
  log: Log,
  signal?: AbortSignal,
): Promise<App> {
  const compose = (base: Base) => partsOf(base, role, log);
  return await startRole(config, role === 'start', log, compose, signal);
}

/** Applies the missing migrations and ends. */
export async function migrateApp(
  config: Config,
  log: Log,
): Promise<{ applied: string[]; database: string }> {
  const database = await openDatabase(config, { ownCluster: true }, log);
  try {
    const applied = await migrate({ url: database.url, log, shards: config.shards });
    return { applied, database: database.label };
  } finally {
    await stopAll(database.services);
  }
}

function partsOf(base: Base, role: Part, log: Log): Parts {
  const { db, waker, config } = base;
  switch (role) {
    case 'api': {
      const { http, services } = localApi(db, waker, config, log);
      return { services, summary: () => summary({ http }) };
    }
    case 'scheduler':
      return {
        services: [...processMetrics(config, log), ...schedulerServices(db, waker, config, log)],
        summary: () => summary({}),
      };
    case 'worker':
    case 'worker-of-start':
      return workerParts(base, role, log);
    case 'start': {
      // Workers are their own processes, so that requests here delay no heartbeat.
      const range = parseWorkerRange(config.workers, availableParallelism()) ?? { min: 1, max: 1 };
      const fleet = new WorkerFleet(db, config, range, log);
      const { http, services } = localApi(db, waker, config, log, {
        runDue: async (budget, caller) => runDue(db, waker, config, log, budget, caller),
        notReady: () => (fleet.ready ? null : 'the worker has not registered its definitions yet'),
      });
      // Stops first: readiness turns false, and runs of due jobs claim no more.
      const door = closing('door', async () => http.beginDrain());
      return {
        reload: async () => await fleet.renew(),
        services: [...services, ...schedulerServices(db, waker, config, log), fleet, door],
        summary: () => summary({ http, worker: fleet.ready?.worker }),
      };
    }
  }
}
