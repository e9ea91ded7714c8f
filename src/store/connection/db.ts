import { Pool, type PoolClient, types } from 'pg';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { JobIds } from './job-ids.ts';
import { Vault } from './vault.ts';

/**
 * One constant statement. It is prepared once per connection under its name, and a test prepares and
 * explains every one of them, which is why they register themselves.
 */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  readonly row?: Row;
}

export const allStatements: Statement<unknown>[] = [];

export function statement<Row>(name: string, text: string): Statement<Row> {
  const made: Statement<Row> = { name, text };
  allStatements.push(made);
  return made;
}

/** An array of numbers, ids or flags as PostgreSQL reads it; many times quicker than the driver's. */
export function arrayText(values: readonly (number | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** The database cannot be reached, or cannot do its work right now. Trying again later may help. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** What store functions run on: the pool, or a transaction in progress. */
export interface Queryable {
  /** Seals what is written to it and opens what is read. */
  readonly vault: Vault;
  readonly clock: Clock;
  /** Makes the ids of new rows. */
  readonly ids: JobIds;
  run<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]>;
}

/** What stands between us and the database, and for how long it keeps a session ours. */
export type Pooler = 'none' | 'transaction';

export interface DbOptions {
  url: string;
  log: Log;
  clock: Clock;
  pooler?: Pooler;
  /** How many shards the database has, fixed at its first migration. */
  shards?: number;
  /** What params, results and checkpoints are encrypted with, as `core/access/key-ring.ts` reads it. */
  encryptionKeys?: string | null;
  /** Connections at most. */
  max?: number;
  /** Every call has a deadline on this side too: a half-open socket never answers. */
  queryTimeoutMs?: number;
  applicationName?: string;
}

/**
 * Session settings of the store's own connections. Plans must not depend on statistics, which are
 * missing or wrong exactly when a queue is under load: plans are generic, and a sequential scan of a
 * queue table is never the right answer.
 *
 * A transaction pooler gives the next transaction to another session, so it refuses such settings or
 * hands them to strangers, and a statement prepared in one session is unknown in the next. Behind it
 * nothing is set and nothing is prepared; the same settings belong to the role (docs/poolers.md).
 */
export const SESSION =
  '-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan -c timezone=UTC';

/** What to do when our session settings are refused, or do not arrive. */
export const POOLER_HINT = 'behind a connection pooler, set LONGSHORE_POOLER=transaction';

const INT8 = 20;

export class Db implements Queryable {
  readonly shards: number;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ids: JobIds;
  readonly #pool: Pool;
  readonly #prepares: boolean;

  private constructor(pool: Pool, options: DbOptions, prepares: boolean) {
    this.#pool = pool;
    this.shards = options.shards ?? 1;
    this.vault = new Vault(options.encryptionKeys);
    this.clock = options.clock;
    this.ids = new JobIds(options.clock);
    this.#prepares = prepares;
  }

  static open(options: DbOptions): Db {
    const sessions = (options.pooler ?? 'none') === 'none';
    const pool = new Pool({
      connectionString: options.url,
      max: options.max ?? 10,
      application_name: options.applicationName ?? 'longshore',
      ...(sessions && { options: SESSION }),
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      query_timeout: options.queryTimeoutMs ?? 30_000,
      types: { getTypeParser: typeParser as typeof types.getTypeParser },
    });
    // An idle connection that breaks is replaced at the next use; it must not end the process.
    pool.on('error', (error) => options.log.debug({ err: error }, 'idle connection lost'));
    // Nor must one that breaks while it is checked out, when the pool no longer listens and the caller does
    // not yet. Its next statement fails.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return new Db(pool, options, sessions);
  }

  async run<Row>(statement: Statement<Row>, values: readonly unknown[] = []): Promise<Row[]> {
    return await translated(async () => await this.#runOn(this.#pool, statement, values));
  }

  /** All or nothing. On doubt the connection is thrown away, never handed out again. */
  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return await translated(async () => {
      const client = await this.#pool.connect();
      let broken: Error | boolean = true;
      try {
        await client.query('begin');
        const result = await work({
          vault: this.vault,
          clock: this.clock,
          ids: this.ids,
          run: async (statement, values = []) => await this.#runOn(client, statement, values),
        });
        await client.query('commit');
        broken = false;
        return result;
      } catch (error) {
        broken = await client.query('rollback').then(
          () => false,
          () => true,
        );
        throw error;
      } finally {
        client.release(broken);
      }
    });
  }

  async ping(): Promise<void> {
    await this.run(PING);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #runOn<Row>(
    target: Pool | PoolClient,
    { name, text }: Statement<Row>,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const query = { text, values: [...values], ...(this.#prepares && { name }) };
    return (await target.query(query)).rows as Row[];
  }
}

const PING = statement<{ one: number }>('ping', 'select 1 as one');

export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const hint = reason.includes('unsupported startup parameter') ? `; ${POOLER_HINT}` : '';
    const words = `the database cannot be reached: ${reason}${hint}`;
    throw new DatabaseUnavailable(words, { cause: error });
  }
}

/**
 * Trouble that may pass, told by SQLSTATE, by Node's code, or by pg's own words: a lost connection,
 * a start or stop, a full disk, a failover to a replica, a deadlock, a cancelled statement. It says
 * nothing about the statement: the same statement may succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(08...|53...|58...|57P0[1-5]|57014|25P03|25006|40001|40P01)$/.test(code)) return true;
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/.test(code)) return true;
  // A Unix socket that is not there, or has too many callers already.
  if (/^(ENOENT|EAGAIN)$/.test(code) && 'syscall' in error && error.syscall === 'connect')
    return true;
  return /Connection terminated|timeout exceeded|Query read timeout|not queryable/.test(
    error.message,
  );
}

/** Our bigints are microseconds and counts, both far below 2^53. */
function typeParser(oid: number, format: 'text' | 'binary' = 'text'): (text: string) => unknown {
  return oid === INT8 ? Number : types.getTypeParser(oid, format);
}
