import type { Config } from '../config/config.ts';
import { openDatabase } from './open-database.ts';
import type { Log } from '../runtime/log.ts';
import { persist } from '../runtime/persist.ts';
import { closing, type Service, startAll, stopAll } from '../runtime/service.ts';
import { Db } from '../store/connection/db.ts';
import { migrate } from '../store/connection/migrate.ts';
import { Waker } from '../store/connection/wake.ts';

/** What every composition stands on. */
export interface Base {
  db: Db;
  waker: Waker;
  config: Config & { databaseUrl: string };
}

export interface AssembleOptions {
  ownCluster: boolean;
  /** True: a given database that cannot be reached is waited for. */
  waits: boolean;
  /** Ends a start that is not over; what was started is stopped, and the promise rejects. */
  signal?: AbortSignal | undefined;
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
 * last that stops. What fails on the way is tried again, unless it is a `StartRefusal`: the database
 * may go away at any moment, also now.
 */
export async function assemble<Parts extends { services: readonly Service[] }>(
  config: Config,
  { ownCluster, waits, signal = new AbortController().signal }: AssembleOptions,
  log: Log,
  compose: (base: Base) => Parts,
): Promise<Assembled<Parts>> {
  const database = await openDatabase(config, { ownCluster, waits, signal }, log);
  try {
    const { url } = database;
    const { pooler, shards, encryptionKeys } = config;
    await persist(async () => await migrate({ url, log, shards }), {
      what: 'the migration',
      log,
      signal,
    });
    const db = Db.open({ url, pooler, log, shards, encryptionKeys, max: 10 });
    const waker = new Waker(url, log, pooler);
    const parts = compose({ db, waker, config: { ...config, databaseUrl: url } });
    const services = [
      closing('pool', async () => await db.close()),
      closing('waker', async () => await waker.close()),
      ...parts.services,
    ];
    await startAll(services, async (service) => {
      const begin = async () => {
        signal.throwIfAborted();
        await service.start(signal).catch(async (error: unknown) => {
          // So that it can begin anew.
          await service.stop().catch(() => undefined);
          throw error;
        });
      };
      await persist(begin, { what: `the start of the ${service.name}`, log, signal });
    });
    signal.throwIfAborted();
    const stop = async () => await stopAll([...database.services, ...services]);
    return { parts, database: database.label, stop };
  } catch (error) {
    // Why it could not start matters more than what went wrong while cleaning up.
    await stopAll(database.services).catch(() => undefined);
    throw error;
  }
}
