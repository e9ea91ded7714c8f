import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from './config/schema.ts';
import { HttpServer } from './http/server.ts';
import { localWorker, schedulerServices } from './local-worker.ts';
import { EmbeddedPostgres, findRunningCluster } from './postgres/embedded.ts';
import { ChildService } from './runtime/child-service.ts';
import { systemClock } from './runtime/clock.ts';
import type { Log } from './runtime/log.ts';
import { closing, type Service, startAll, stopAll } from './runtime/service.ts';
import { Db } from './store/db.ts';
import { Inbox } from './store/inbox.ts';
import { migrate } from './store/migrate.ts';
import { describeServer } from './store/server-version.ts';
import { Waker } from './store/wake.ts';
import { VERSION } from './version.ts';

/**
 * The composition root: from a configuration to running services. Nothing here decides anything
 * about jobs. Services start in the order in which they are listed and stop in reverse, so what
 * others need is listed first: the database outlives everybody, the API outlives the worker.
 */

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
  stop(): Promise<void>;
}

/** The server cannot start; the message is one line that says what to do. */
export class AppError extends Error {
  override name = 'AppError';
}

export async function startApp(config: Config, role: Role, log: Log): Promise<App> {
  const database = await openDatabase(config, role, log);
  try {
    await migrate({ url: database.url, log, shards: config.shards });
    const parts = compose({ ...config, databaseUrl: database.url }, role, log);
    await startAll(parts.services);
    return {
      summary: { database: database.label, ...parts.summary() },
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
  const database = await openDatabase(config, 'start', log);
  try {
    const applied = await migrate({ url: database.url, log, shards: config.shards });
    return { applied, database: database.label };
  } finally {
    await stopAll(database.services);
  }
}

interface Database {
  url: string;
  label: string;
  services: Service[];
}

/** The given database, the embedded one that somebody runs on this folder, or our own. */
async function openDatabase(config: Config, role: Role, log: Log): Promise<Database> {
  if (config.databaseUrl) {
    return { url: config.databaseUrl, label: await describe(config.databaseUrl), services: [] };
  }
  const folder = `./${relative(process.cwd(), resolve(config.data, 'pg'))}`;
  const running = role === 'start' ? undefined : await findRunningCluster(config.data);
  if (running) {
    return {
      url: running,
      label: `${await describe(running)} (embedded, ${folder})`,
      services: [],
    };
  }
  if (role !== 'start') {
    throw new AppError(
      `no database: set DATABASE_URL, or run "longshore start" on ${config.data} first`,
    );
  }
  const embedded = new EmbeddedPostgres({ dataDir: config.data, log });
  await embedded.start();
  const label = `${await describe(embedded.url)} (embedded, ${folder})`;
  return { url: embedded.url, label, services: [embedded] };
}

async function describe(url: string): Promise<string> {
  try {
    return await describeServer(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError(`the database cannot be reached: ${reason}`, { cause: error });
  }
}

interface Parts {
  services: Service[];
  summary(): Omit<AppSummary, 'database'>;
}

function compose(config: Config & { databaseUrl: string }, role: Role, log: Log): Parts {
  const db = Db.open({ url: config.databaseUrl, log, shards: config.shards, max: 10 });
  const waker = new Waker(db, log);
  const pool = closing('pool', async () => await db.close());
  switch (role) {
    case 'api': {
      const http = api(db, config, log);
      return { services: [pool, ...http.services], summary: () => summary({ http: http.server }) };
    }
    case 'scheduler':
      return {
        services: [pool, ...schedulerServices(db, waker, config, log)],
        summary: () => summary({}),
      };
    case 'worker': {
      const { worker, services } = localWorker(db, waker, config, log);
      return {
        services: [pool, ...services],
        summary: () => summary({ worker: { ...worker.report, slots: config.concurrency } }),
      };
    }
    case 'start': {
      // The worker is a process of its own: requests that keep this one busy delay no heartbeat.
      const http = api(db, config, log);
      const child = workerProcess(config, log);
      return {
        services: [pool, ...http.services, ...schedulerServices(db, waker, config, log), child],
        summary: () => summary({ http: http.server, worker: child.ready?.worker }),
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

function api(db: Db, config: Config, log: Log): { server: HttpServer; services: Service[] } {
  const inbox = new Inbox(db, systemClock, log);
  const { host, port } = config;
  const server = new HttpServer({ db, inbox, log, host, port, version: VERSION });
  return { server, services: [closing('inbox', async () => await inbox.close()), server] };
}

interface WorkerSummary {
  definitions: { key: string; version: number }[];
  problems: string[];
  slots: number;
}

/** The worker of `start`; see `worker-process.ts` for its side. */
export interface WorkerReady {
  worker: WorkerSummary;
}

function workerProcess(config: Config, log: Log): ChildService<WorkerReady> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new ChildService({
    name: 'worker',
    entry: fileURLToPath(new URL(`./worker-process.${extension}`, import.meta.url)),
    message: { config },
    log,
    stopMs: config.drainMs + 15_000,
  });
}
