import type { Config } from './config/config.ts';
import { openDatabase } from './open-database.ts';
import type { Log } from './runtime/log.ts';
import { closing, type Service, startAll, stopAll } from './runtime/service.ts';
import { Db } from './store/db.ts';
import { migrate } from './store/migrate.ts';
import { Waker } from './store/wake.ts';

/** What every composition stands on. */
export interface Base {
  db: Db;
  waker: Waker;
  config: Config & { databaseUrl: string };
}

export interface Assembled<Parts> {
  parts: Parts;
  /** The database in words. */
  database: string;
  stop(): Promise<void>;
}

/**
 * What the server and an application with Longshore inside share: find or start the database, bring
 * it up to date, connect, and start the parts that the caller composes. The first that starts is the
 * last that stops.
 */
export async function assemble<Parts extends { services: readonly Service[] }>(
  config: Config,
  { ownCluster }: { ownCluster: boolean },
  log: Log,
  compose: (base: Base) => Parts,
): Promise<Assembled<Parts>> {
  const database = await openDatabase(config, { ownCluster }, log);
  try {
    const { url } = database;
    const { pooler, shards, encryptionKeys } = config;
    await migrate({ url, log, shards });
    const db = Db.open({ url, pooler, log, shards, encryptionKeys, max: 10 });
    const waker = new Waker(url, log, pooler);
    const parts = compose({ db, waker, config: { ...config, databaseUrl: url } });
    const services = [
      closing('pool', async () => await db.close()),
      closing('waker', async () => await waker.close()),
      ...parts.services,
    ];
    await startAll(services);
    const stop = async () => await stopAll([...database.services, ...services]);
    return { parts, database: database.label, stop };
  } catch (error) {
    // Why it could not start matters more than what went wrong while cleaning up.
    await stopAll(database.services).catch(() => undefined);
    throw error;
  }
}
