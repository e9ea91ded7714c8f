import { relative, resolve } from 'node:path';
import type { Config } from './config/config.ts';
import { EmbeddedPostgres, findRunningCluster } from './postgres/embedded.ts';
import type { Log } from './runtime/log.ts';
import type { Service } from './runtime/service.ts';
import { DatabaseUnavailable, POOLER_HINT } from './store/db.ts';
import { inspectServer } from './store/server-version.ts';

/** The server cannot start; the message is one line that says what to do. */
export class AppError extends Error {
  override name = 'AppError';
}

export interface Database {
  url: string;
  label: string;
  services: Service[];
}

/** The given database, the embedded one that somebody runs on this folder, or our own. */
export async function openDatabase(
  config: Config,
  { ownCluster }: { ownCluster: boolean | 'unless-running' },
  log: Log,
): Promise<Database> {
  const describe = async (url: string) => await describeServer(url, config, log);
  if (config.databaseUrl) {
    return { url: config.databaseUrl, label: await describe(config.databaseUrl), services: [] };
  }
  const path = relative(process.cwd(), resolve(config.data, 'pg'));
  const folder = path.startsWith('..') ? path : `./${path}`;
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
      `no database: set DATABASE_URL, or run "longshore start" on ${config.data} first`,
    );
  }
  const embedded = new EmbeddedPostgres({ dataDir: config.data, log });
  await embedded.start();
  const label = `${await describe(embedded.url)} (embedded, ${folder})`;
  return { url: embedded.url, label, services: [embedded] };
}

/** Asks it for its version, by a connection like the store's own: what fails, fails here first. */
async function describeServer(url: string, { pooler }: Config, log: Log): Promise<string> {
  const server = await inspectServer({ url, pooler, log }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    const told = error instanceof DatabaseUnavailable;
    const words = told ? reason : `the database cannot be reached: ${reason}`;
    throw new AppError(words, { cause: error });
  });
  if (!server.tuned && pooler === 'none') {
    throw new AppError(`session settings do not reach the database: ${POOLER_HINT}`);
  }
  if (!server.tuned) {
    log.warn(
      { role: server.role, database: server.database },
      'the role lacks the settings that plans rely on: see "The role" in docs/poolers.md',
    );
  }
  return `PostgreSQL ${server.version}`;
}
