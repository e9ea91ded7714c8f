import { availableParallelism } from 'node:os';
import { assemble, type Base } from './assemble.ts';
import type { Config } from '../config/config.ts';
import { parseWorkerRange } from '../core/queue/worker-range.ts';
import type { HttpServer } from '../http/server.ts';
import { localApi } from './local-api.ts';
import { schedulerServices } from './local-scheduler.ts';
import { localWorker } from './local-worker.ts';
import { processMetrics } from '../metrics/metrics-server.ts';
import { openDatabase } from './open-database.ts';
import { runDue } from './run-due/run-due.ts';
import type { Log } from '../runtime/log.ts';
import { closing, type Service, stopAll } from '../runtime/service.ts';
import { StartRefusal } from '../runtime/start-refusal.ts';
import { loadTracing } from '../signals/load-tracing.ts';
import { migrate } from '../store/connection/migrate.ts';
import { startReport, type WorkerRole, type WorkerSummary } from './worker-child.ts';
import { WorkerFleet } from './worker-fleet.ts';

/**
 * The composition root: from a configuration to running services. It decides nothing about jobs. Services
 * start in the order of the list and stop in reverse, so what others need is listed first: the database
 * stops last, and the API stops after the worker.
 */

export { type Check, diagnose } from './diagnose.ts';
export { encryptionApp } from './encryption-app.ts';
export { startIngest } from './ingest/ingest-app.ts';
export { withKeyDesk } from './keys-app.ts';
export { AppError } from './open-database.ts';
export { type RemoteServer, startRemoteWorker } from './remote-worker-app.ts';
export { runDueApp } from './run-due/run-due-app.ts';

export type Role = 'start' | 'api' | 'worker' | 'scheduler';
type Part = Role | WorkerRole;

export interface AppSummary {
  database: string;
  address: string | null;
  definitions: { key: string; version: number }[];
  /** Problems to print at start, such as definition files that could not be loaded. */
  problems: string[];
  slots: number | null;
}

export interface App {
  readonly summary: AppSummary;
  /** Resolves when its worker was asked to drain: then the process stops. */
  readonly drainAsked?: Promise<void> | undefined;
  /** Lets its worker finish, and starts a new one that loads the definitions anew. */
  reload?(): Promise<AppSummary>;
  stop(): Promise<void>;
}

/** Rejects with a `StartRefusal` for what a restart cannot fix, or on the signal; retries everything else. */
export async function startApp(
  config: Config,
  role: Part,
  log: Log,
  signal?: AbortSignal,
): Promise<App> {
  await loadTracing(config.tracing).catch((error: unknown) => {
    const words = error instanceof Error ? error.message : String(error);
    throw new StartRefusal('configuration', words, { cause: error });
  });
  const options = { ownCluster: role === 'start', waits: true, signal };
  const app = await assemble(config, options, log, (base) => compose(base, role, log));
  const { summary: parts, drainAsked, reload } = app.parts;
  const now = () => ({ database: app.database, ...parts() });
  return {
    summary: now(),
    drainAsked,
    ...(reload && { reload: async () => await reload().then(now) }),
    stop: app.stop,
  };
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

interface Parts {
  services: Service[];
  drainAsked?: Promise<void>;
  reload?(): Promise<void>;
  summary(): Omit<AppSummary, 'database'>;
}

function compose({ db, waker, config }: Base, role: Part, log: Log): Parts {
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
    case 'worker-of-start': {
      const schedules = role === 'worker';
      const { worker, services, drainAsked } = localWorker(db, waker, config, log, schedules);
      return {
        drainAsked,
        services,
        summary: () => summary({ worker: { ...startReport(worker), slots: config.concurrency } }),
      };
    }
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

function summary(of: {
  http?: HttpServer;
  worker?: WorkerSummary | undefined;
}): Omit<AppSummary, 'database'> {
  return {
    address: of.http?.address ?? null,
    definitions: (of.worker?.definitions ?? []).map(({ key, version }) => ({ key, version })),
    problems: of.worker?.problems ?? [],
    slots: of.worker?.slots ?? null,
  };
}
