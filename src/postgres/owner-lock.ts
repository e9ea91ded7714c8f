import type { Client } from 'pg';
import { systemClock } from '../runtime/clock.ts';
import { sleep } from '../runtime/deadline.ts';
import type { Log } from '../runtime/log.ts';
import { connect, type Address } from './connection.ts';
import { EmbeddedPostgresError } from './error.ts';

/**
 * The owner of a running server holds this advisory lock, on a connection that does nothing else.
 * The lock ends with its holder, so a server whose lock is free is the orphan of a killed
 * supervisor. It is in the database `postgres`, away from all other locks.
 */
const key = [0x6c6f6e67, 0x73686f72];

export async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ granted: boolean }>(
    'select pg_try_advisory_lock($1, $2) as granted',
    key,
  );
  return rows[0]?.granted === true;
}

/** Checks without taking the lock, so that a check never blocks the rightful owner. */
export async function isLocked(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_locks
      where locktype = 'advisory' and granted and classid = $1 and objid = $2 and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`,
    key,
  );
  return rows.length > 0;
}

interface Held {
  client: Client;
  lost: Promise<void>;
}

/** Holds the lock while a server runs, and takes it again when only the connection is lost. */
export class OwnerLock {
  readonly #log: Log;
  #released = new AbortController();
  #client: Client | undefined;
  #keeping: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Resolves when the lock is held. */
  async hold(address: Address): Promise<void> {
    await this.release();
    const released = new AbortController();
    this.#released = released;
    const held = await this.#take(address);
    this.#keeping = this.#keep(address, held, released.signal);
  }

  async release(): Promise<void> {
    this.#released.abort();
    await this.#client?.end().catch(() => {});
    await this.#keeping;
    this.#keeping = undefined;
  }

  async #take(address: Address): Promise<Held> {
    const client = await connect(address, 'postgres');
    const lost = new Promise<void>((resolve) => client.once('end', () => resolve()));
    try {
      // Another start that looks for orphans may hold it for a moment.
      const giveUpMs = systemClock.monotonicMs() + 15_000;
      while (!(await tryLock(client))) {
        if (systemClock.monotonicMs() > giveUpMs) {
          throw new EmbeddedPostgresError(
            'Another Longshore has just taken this database over: stop one of them.',
          );
        }
        await sleep(100);
      }
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    return { client, lost };
  }

  async #keep(address: Address, first: Held, released: AbortSignal): Promise<void> {
    let held: Held | undefined = first;
    while (!released.aborted) {
      if (held) await held.lost;
      if (released.aborted) return;
      // When a backend is killed, the server drops all connections and recovers.
      this.#log.debug('lost the connection of the owner lock; taking the lock again');
      await sleep(100, released);
      held = await this.#take(address).catch(() => undefined);
      if (held && released.aborted) await held.client.end().catch(() => {});
    }
  }
}
