import type { Config } from './config/schema.ts';
import { dashboardFolder } from './dashboard.ts';
import { type HttpDeps, HttpServer } from './http/server.ts';
import { schedulerServices } from './local-scheduler.ts';
import { localWorker } from './local-worker.ts';
import { openDatabase } from './open-database.ts';
import { runDue } from './run-due.ts';
import { systemClock } from './runtime/clock.ts';
import type { Log } from './runtime/log.ts';
import { closing, type Service, startAll, stopAll } from './runtime/service.ts';
import { Db } from './store/db.ts';
import { Inbox } from './store/inbox.ts';
import { migrate } from './store/migrate.ts';
import { Waker } from './store/wake.ts';
import { VERSION } from './version.ts';
import { workerProcess, type WorkerSummary } from './worker-child.ts';

/**
 * The composition root: from a configuration to running services. Nothing here decides anything
 * about jobs. Services start in the order in which they are listed and stop in reverse, so what
 * others need is listed first: the database outlives everybody, the API outlives the worker.
 */

export { type Check, diagnose } from './diagnose.ts';
export { AppError } from './open-database.ts';
export { runDueApp } from './run-due-app.ts';

export type Role = 'start' | 'api' | 'worker' | 'scheduler';

export interface AppSummary {
  database: string;
  address: string | null;
  definitions: { key: string; version: number }[];
  /** What a person should know at once, such as definition files that could not be loaded. */
  problems: string[];
  slots: number | null;
}

export interface App {
  readonly summary: AppSummary;
  /** Resolves when its worker was asked to drain: then it is time to stop. */
  readonly drainAsked?: Promise<void> | undefined;
  stop(): Promise<void>;
}

export async function startApp(config: Config, role: Role, log: Log): Promise<App> {
  const database = await openDatabase(config, { ownCluster: role === 'start' }, log);
  try {
    await migrate({ url: database.url, log, shards: config.shards });
    const parts = compose({ ...config, databaseUrl: database.url }, role, log);
    await startAll(parts.services);
    return {
      summary: { database: database.label, ...parts.summary() },
      drainAsked: parts.drainAsked,
      stop: async () => await stopAll([...database.services, ...parts.services]),
    };
  } catch (error) {
    // Why it could not start matters more than what went wrong while cleaning up.
    await stopAll(database.services).catch(() => undefined);
    throw error;
  }
}

/** Brings the schema up to date and ends. */
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
  summary(): Omit<AppSummary, 'database'>;
}

function compose(config: Config & { databaseUrl: string }, role: Role, log: Log): Parts {
  const { databaseUrl: url, pooler, shards } = config;
  const db = Db.open({ url, pooler, log, shards, max: 10 });
  const waker = new Waker(url, log, pooler);
  const connections = [
    closing('pool', async () => await db.close()),
    closing('waker', async () => await waker.close()),
  ];
  switch (role) {
    case 'api': {
      const http = api(db, waker, config, log);
      return { services: [...connections, http], summary: () => summary({ http }) };
    }
    case 'scheduler':
      return {
        services: [...connections, ...schedulerServices(db, waker, config, log)],
        summary: () => summary({}),
      };
    case 'worker': {
      const { worker, services, drainAsked } = localWorker(db, waker, config, log);
      return {
        drainAsked,
        services: [...connections, ...services],
        summary: () => summary({ worker: { ...worker.report, slots: config.concurrency } }),
      };
    }
    case 'start': {
      // The worker is a process of its own: requests that keep this one busy delay no heartbeat.
      const http = api(db, waker, config, log, async (budget, signal) =>
        runDue(db, waker, config, log, budget, signal),
      );
      const child = workerProcess(config, log);
      const keepers = schedulerServices(db, waker, config, log);
      // The first to stop: from then on nobody shall be sent here, and no run shall claim more.
      const door = closing('door', async () => http.beginDrain());
      return {
        services: [...connections, http, ...keepers, child, door],
        summary: () => summary({ http, worker: child.ready?.worker }),
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

function api(db: Db, waker: Waker, config: Config, log: Log, run?: HttpDeps['runDue']) {
  const { host, port, unhandledAfterMs } = config;
  const inbox = new Inbox(db, waker, systemClock);
  const deps = { db, inbox, log, host, port, unhandledAfterMs, version: VERSION };
  return new HttpServer({ ...deps, dashboard: dashboardFolder(log), ...(run && { runDue: run }) });
}
