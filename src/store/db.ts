import { Pool, type PoolClient, types } from 'pg';
import type { Log } from '../runtime/log.ts';

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
  run<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]>;
}

export interface DbOptions {
  url: string;
  log: Log;
  /** How many shards the database has, fixed at its first migration. */
  shards?: number;
  /** Connections at most. */
  max?: number;
  /** Every call has a deadline on this side too: a half-open socket never answers. */
  queryTimeoutMs?: number;
  applicationName?: string;
  /** For what may be lost in a crash, such as hints: commits do not wait for the disk. */
  relaxed?: boolean;
}

/**
 * Session settings of the store's own connections. Plans must not depend on statistics, which are
 * missing or wrong exactly when a queue is under load: plans are generic, and a sequential scan of a
 * queue table is never the right answer.
 */
export const SESSION =
  '-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan -c timezone=UTC';

const INT8 = 20;

export class Db implements Queryable {
  readonly shards: number;
  readonly #pool: Pool;

  private constructor(pool: Pool, shards: number) {
    this.#pool = pool;
    this.shards = shards;
  }

  static open(options: DbOptions): Db {
    const pool = new Pool({
      connectionString: options.url,
      max: options.max ?? 10,
      application_name: options.applicationName ?? 'longshore',
      options: options.relaxed ? `${SESSION} -c synchronous_commit=off` : SESSION,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      query_timeout: options.queryTimeoutMs ?? 30_000,
      types: { getTypeParser: typeParser as typeof types.getTypeParser },
    });
    // An idle connection that breaks is replaced at the next use; it must not end the process.
    pool.on('error', (error) => options.log.debug({ err: error }, 'idle connection lost'));
    return new Db(pool, options.shards ?? 1);
  }

  async run<Row>(statement: Statement<Row>, values: readonly unknown[] = []): Promise<Row[]> {
    return await translated(async () => await runOn<Row>(this.#pool, statement, values));
  }

  /** All or nothing. On doubt the connection is thrown away, never handed out again. */
  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return await translated(async () => {
      const client = await this.#pool.connect();
      // A connection that breaks fails its statement; as an event nobody hears it would be fatal.
      const hear = () => undefined;
      client.on('error', hear);
      let broken: Error | boolean = true;
      try {
        await client.query('begin');
        const result = await work({
          run: async (statement, values = []) => await runOn(client, statement, values),
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
        client.off('error', hear);
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
}

const PING = statement<{ one: number }>('ping', 'select 1 as one');

async function runOn<Row>(
  target: Pool | PoolClient,
  { name, text }: Statement<Row>,
  values: readonly unknown[],
): Promise<Row[]> {
  const result = await target.query({ name, text, values: [...values] });
  return result.rows as Row[];
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseUnavailable(`the database cannot be reached: ${reason}`, { cause: error });
  }
}

/**
 * Trouble that may pass, told by SQLSTATE, by Node's code, or by pg's own words: a lost connection,
 * a start or stop, a full disk, a failover to a replica, a deadlock, a cancelled statement. It says
 * nothing about the statement, so nobody may conclude that what was to be stored cannot be.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(08...|53...|58...|57P0[1-5]|57014|25P03|25006|40001|40P01)$/.test(code)) return true;
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/.test(code)) return true;
  return /Connection terminated|timeout exceeded|Query read timeout|Client was closed/.test(
    error.message,
  );
}

/** Our bigints are microseconds and counts, both far below 2^53. */
function typeParser(oid: number, format: 'text' | 'binary' = 'text'): (text: string) => unknown {
  return oid === INT8 ? Number : types.getTypeParser(oid, format);
}
