import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { parseUidSetting, rangesOf } from '../core/access/job-uids.ts';
import { NOBODY_UID, runnerUidProblem } from '../core/access/machine-users.ts';
import { databaseFix } from '../core/failure/database-fix.ts';
import { clusterExists, EmbeddedPostgres, findRunningCluster } from '../postgres/embedded.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { persist } from '../runtime/persist.ts';
import type { Service } from '../runtime/service.ts';
import { StartRefusal } from '../runtime/start-refusal.ts';
import { DatabaseUnavailable, POOLER_HINT } from '../store/connection/db.ts';
import { inspectServer } from '../store/connection/server-version.ts';

/** The server cannot start with these settings; the message is one line that says what to do. */
export class AppError extends StartRefusal {
  override name = 'AppError';

  constructor(message: string, options?: ErrorOptions) {
    super('configuration', message, options);
  }
}

export interface OpenOptions {
  ownCluster: boolean | 'unless-running' | 'if-it-exists';
  /**
   * True: wait for a given database that cannot be reached. The embedded one is always waited for.
   */
  waits?: boolean;
  /** Ends the wait. */
  signal?: AbortSignal;
}

export interface Database {
  url: string;
  label: string;
  services: Service[];
}

/** The given database, a running embedded one on this folder, or our own. */
export async function openDatabase(
  config: Config,
  { ownCluster, waits = false, signal = new AbortController().signal }: OpenOptions,
  log: Log,
): Promise<Database> {
  const describe = async (url: string) => await describeServer(url, config, log);
  const reach = async (url: string) =>
    await persist(async () => await describe(url), {
      what: 'the first connection',
      fix: databaseFixOf,
      log,
      signal,
    });
  const { databaseUrl } = config;
  if (databaseUrl) {
    const label = waits ? await reach(databaseUrl) : await describe(databaseUrl);
    return { url: databaseUrl, label, services: [] };
  }
  const path = relative(process.cwd(), resolve(config.data, 'pg'));
  const folder = path.startsWith('..') ? path : `./${path}`;
  await refuseDatabaseUid(config);
  const running = ownCluster === true ? undefined : await findRunningCluster(config.data);
  if (running) {
    return {
      url: running,
      label: `${await describe(running)} (embedded, ${folder})`,
      services: [],
    };
  }
  if (ownCluster === false) {
    throw new AppError(
      `no database: set DATABASE_URL, or run "npx longshore start" on ${config.data} first`,
    );
  }
  if (ownCluster === 'if-it-exists' && !(await clusterExists(config.data))) {
    throw new AppError(
      `there is no database in ${folder}: name a running server by --url or LONGSHORE_URL, ` +
        'or its database by DATABASE_URL or --data',
    );
  }
  // A server in the wrong folder leaves nothing there.
  const taken = ownCluster === true && waits ? await takenPortOf(config) : null;
  if (taken !== null) throw new AppError(taken);
  const embedded = new EmbeddedPostgres({ dataDir: config.data, log });
  const stop = () => void embedded.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const start = async () => await embedded.start();
    await persist(start, { what: 'the start of PostgreSQL', log, signal });
    const label = `${await reach(embedded.url)} (embedded, ${folder})`;
    return { url: embedded.url, label, services: [embedded] };
  } catch (error) {
    await embedded.stop().catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A job that runs as the owner of the cluster could read the database password. */
async function refuseDatabaseUid({ data, runnerUids }: Config): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const found = await stat(resolve(data, 'pg')).catch(() => undefined);
  // A cluster that root made with an earlier version changes its owner when it starts.
  if (!found || found.uid === NOBODY_UID) return;
  for (const range of rangesOf(parseUidSetting(runnerUids))) {
    const problem = runnerUidProblem(range, found.uid);
    if (problem !== null) throw new AppError(`${problem} with LONGSHORE_RUNNER_UIDS`);
  }
}

function databaseFixOf(error: unknown): string {
  const { message = '', cause } = error instanceof Error ? error : {};
  const { code } = (cause ?? {}) as { code?: unknown };
  return databaseFix({ code: typeof code === 'string' ? code : null, reason: message });
}

/** Reads its version with a connection like the store's, so that errors show up here first. */
async function describeServer(url: string, { pooler }: Config, log: Log): Promise<string> {
  const server = await inspectServer({ clock: systemClock, url, pooler, log }).catch(
    (error: unknown) => {
      // Transient errors are retried by the caller. All others are a problem of DATABASE_URL or the
      // server.
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof DatabaseUnavailable && !reason.includes(POOLER_HINT)) throw error;
      throw new AppError(`cannot connect to the database: ${reason}`, { cause: error });
    },
  );
  if (!server.tuned && pooler === 'none') {
    throw new AppError(`session settings do not reach the database: ${POOLER_HINT}`);
  }
  if (!server.tuned) {
    log.warn(
      { role: server.role, database: server.database },
      'the database role lacks recommended settings: see "The role" in docs/operate/poolers.md',
    );
  }
  return `PostgreSQL ${server.version}`;
}

async function takenPortOf(config: Config): Promise<string | null> {
  return await (await import('../doctor/facts/port.ts')).takenPort(config);
}
