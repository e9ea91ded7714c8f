import type { Config } from '../config/config.ts';
import { openDatabase } from './open-database.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { persist } from '../runtime/persist.ts';
import { closing, type Service, startAll, stopAll } from '../runtime/service.ts';
import { Db } from '../store/connection/db.ts';
import { migrate } from '../store/connection/migrate.ts';
import { Waker } from '../store/connection/wake.ts';

/** What every composition needs. */
export interface Base {
  db: Db;
  waker: Waker;
  config: Config & { databaseUrl: string };
}

export interface AssembleOptions {
  ownCluster: boolean;
  /** True: wait for a given database that cannot be reached. */
  waits: boolean;
  /** Aborts a start; what was started is stopped, and the promise rejects. */
  signal?: AbortSignal | undefined;
}

export interface Assembled<Parts> {
  parts: Parts;
  /** A description of the database. */
  database: string;
  stop(): Promise<void>;
}

/**
 * Shared by the server and in-process use: finds or starts the database, migrates it, connects, and
 * starts the services of the caller. Services stop in reverse order. Failures are retried, except a
 * `StartRefusal`, because the database may go away at any moment.
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
    const db = Db.open({ clock: systemClock, url, pooler, log, shards, encryptionKeys, max: 10 });
    const waker = new Waker(url, log, systemClock, pooler, shards);
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
          // Reset it for the next try.
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
    // Report the error of the start, not that of the clean-up.
    await stopAll(database.services).catch(() => undefined);
    throw error;
  }
}
