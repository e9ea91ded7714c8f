import { relative, resolve } from 'node:path';
import type { Config } from './config/schema.ts';
import { EmbeddedPostgres, findRunningCluster } from './postgres/embedded.ts';
import type { Log } from './runtime/log.ts';
import type { Service } from './runtime/service.ts';
import { describeServer } from './store/server-version.ts';

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
  { ownCluster }: { ownCluster: boolean },
  log: Log,
): Promise<Database> {
  if (config.databaseUrl) {
    return { url: config.databaseUrl, label: await describe(config.databaseUrl), services: [] };
  }
  const folder = `./${relative(process.cwd(), resolve(config.data, 'pg'))}`;
  const running = ownCluster ? undefined : await findRunningCluster(config.data);
  if (running) {
    return {
      url: running,
      label: `${await describe(running)} (embedded, ${folder})`,
      services: [],
    };
  }
  if (!ownCluster) {
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
