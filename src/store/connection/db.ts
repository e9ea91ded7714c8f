import { type ClientBase, Pool, type PoolClient, types } from 'pg';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { type Backend, CITUS_SESSION, DETECT_BACKEND, rendered } from './backend.ts';
import { JobIds } from './job-ids.ts';
import { ShardShares } from './shard-shares.ts';
import { Vault } from './vault.ts';

/**
 * One constant statement, prepared once per connection under its name. Statements register
 * themselves, because a test prepares and explains every one.
 */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** The text for Citus, if it differs: the same values and the same rows. */
  readonly citus?: string;
  /** Whether its first value is the one shard that it is about. */
  readonly ofShard?: boolean;
  readonly row?: Row;
}

export const allStatements: Statement<unknown>[] = [];

export interface StatementOptions {
  /** Default: whether the text contains `shard = $1`. */
  ofShard?: boolean;
  /** The text for Citus, if it differs (`backend.ts`). */
  citus?: string;
}

export function statement<Row>(
  name: string,
  text: string,
  { ofShard = /\bshard = \$1\b/.test(text), citus = text }: StatementOptions = {},
): Statement<Row> {
  const own = rendered(citus, 'citus');
  const plain = rendered(text, 'postgres');
  const made: Statement<Row> = { name, text: plain, ...(own !== plain && { citus: own }), ofShard };
  allStatements.push(made);
  return made;
}

/**
 * An array of numbers, ids or flags as a PostgreSQL literal; many times faster than the driver's.
 */
export function arrayText(values: readonly (number | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** The database cannot be reached or cannot work right now. A later try may succeed. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** The pool, or a transaction in progress. */
export interface Queryable {
  /** Seals values that are written and opens values that are read. */
  readonly vault: Vault;
  readonly clock: Clock;
  /** Makes the ids of new rows. */
  readonly ids: JobIds;
  run<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]>;
}

/** Whether a connection pooler is between this process and the database. */
export type Pooler = 'none' | 'transaction';

export interface DbOptions {
  url: string;
  log: Log;
  clock: Clock;
  pooler?: Pooler;
  /** The number of shards, fixed by the first migration. */
  shards?: number;
  /** The keys for params, results and checkpoints, in the format of `core/access/key-ring.ts`. */
  encryptionKeys?: string | null;
  /** Maximum number of connections. */
  max?: number;
  /** Every call also has a deadline in this process: a half-open socket never answers. */
  queryTimeoutMs?: number;
  applicationName?: string;
}

/**
 * Session settings of the store's connections. Plans must not depend on statistics, which are
 * missing or wrong when a queue is under load: plans are generic, and sequential scans are off.
 *
 * A transaction pooler gives the next transaction to another session, so it refuses such settings
 * or leaks them to other clients, and a statement prepared in one session is unknown in the next.
 * Behind a pooler nothing is set and nothing is prepared; the role has the settings
 * (docs/operate/poolers.md).
 */
export const SESSION =
  '-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan -c timezone=UTC';

/** For the case that the session settings are refused or do not take effect. */
export const POOLER_HINT = 'behind a connection pooler, set LONGSHORE_POOLER=transaction';

const POOL_MAX = 10;
/**
 * An idle connection is closed after this, except for one. Statements of the alerts come every fifteen seconds: a
 * connection for them stays open, because a new one plans all statements again.
 */
const IDLE_MS = 20_000;
/** The longest wait for a connection. */
const CONNECT_MS = 5_000;

const INT8 = 20;

export class Db implements Queryable {
  readonly shards: number;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ids: JobIds;
  readonly #pool: Pool;
  /** Null where all statements are about one shard. */
  readonly #shares: ShardShares | null;
  readonly #prepares: boolean;
  /** Known from the first connection on. */
  #backend: Backend | null = null;

  private constructor(pool: Pool, options: DbOptions, prepares: boolean) {
    this.#pool = pool;
    this.shards = options.shards ?? 1;
    this.vault = new Vault(options.encryptionKeys);
    this.clock = options.clock;
    this.ids = new JobIds(options.clock);
    this.#prepares = prepares;
    const { max = POOL_MAX } = options;
    this.#shares = this.shards === 1 ? null : new ShardShares(max, CONNECT_MS, isUnavailable);
  }

  static open(options: DbOptions): Db {
    const sessions = (options.pooler ?? 'none') === 'none';
    const pool = new Pool({
      connectionString: options.url,
      max: options.max ?? POOL_MAX,
      application_name: options.applicationName ?? 'longshore',
      ...(sessions && { options: SESSION }),
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: IDLE_MS,
      min: 1,
      query_timeout: options.queryTimeoutMs ?? 30_000,
      types: { getTypeParser: typeParser as typeof types.getTypeParser },
      verify: (client, greeted) => {
        db.#greet(client, sessions).then(() => greeted(), greeted);
      },
    });
    const db = new Db(pool, options, sessions);
    // A broken idle connection is replaced at the next use; it must not end the process.
    pool.on('error', (error) => options.log.debug({ err: error }, 'idle connection lost'));
    // The same for a connection that breaks while it is checked out and has no other listener. Its
    // next statement fails.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return db;
  }

  async run<Row>(statement: Statement<Row>, values: readonly unknown[] = []): Promise<Row[]> {
    const run = async () => {
      if (this.#backend === null) (await this.#pool.connect()).release();
      return await this.#runOn(this.#pool, statement, values);
    };
    const [shard] = values;
    const shares = statement.ofShard ? this.#shares : null;
    if (shares === null || typeof shard !== 'number') return await translated(run);
    return await translated(async () => await shares.run(shard, run));
  }

  /** All or nothing. After an error the connection is closed, never reused. */
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

  /** Each new connection. */
  async #greet(client: ClientBase, sessions: boolean): Promise<void> {
    if (this.#backend === null) {
      const { rows } = await client.query<{ backend: Backend }>(DETECT_BACKEND);
      this.#backend = rows[0]?.backend ?? 'postgres';
    }
    if (sessions && this.#backend === 'citus') await client.query(CITUS_SESSION);
  }

  async #runOn<Row>(
    target: Pool | PoolClient,
    { name, text: postgres, citus = postgres }: Statement<Row>,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const text = this.#backend === 'citus' ? citus : postgres;
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
 * Errors that may pass, recognized by SQLSTATE, Node's error code or pg's messages: a lost
 * connection, a start or stop, a full disk, a failover to a replica, a deadlock, a cancelled
 * statement. The same statement may succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(08...|53...|58...|57P0[1-5]|57014|25P03|25006|40001|40P01)$/.test(code)) return true;
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/.test(code)) return true;
  // A Unix socket that does not exist or has a full backlog.
  if (/^(ENOENT|EAGAIN)$/.test(code) && 'syscall' in error && error.syscall === 'connect')
    return true;
  return /Connection terminated|timeout exceeded|Query read timeout|not queryable/.test(
    error.message,
  );
}

/** Our bigints are microseconds and counts, far below 2^53. */
function typeParser(oid: number, format: 'text' | 'binary' = 'text'): (text: string) => unknown {
  return oid === INT8 ? Number : types.getTypeParser(oid, format);
}

/** Runs it in a transaction, which may be in progress already. */
export async function inTransaction<T>(
  db: Queryable,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return db instanceof Db ? await db.transaction(work) : await work(db);
}
