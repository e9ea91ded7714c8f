import type { Client, QueryArrayResult } from 'pg';
import { NonRetryable } from '../../core/definition/define.ts';
import { secretOf } from '../ready-job.ts';
import { type CellKind, type ColumnOptions, columnOf, type Row, type Table } from './table.ts';

export interface Query {
  /** The environment variable with the URL of the database. */
  database: string;
  sql: string;
  /** Of $1, $2 and so on. */
  values: readonly unknown[];
  columns: Readonly<Record<string, ColumnOptions>>;
  seconds: number;
  timeZone: string;
}

export interface QueryWatch {
  signal: AbortSignal;
  warn(words: string): void;
}

const CONNECT_MS = 10_000;
/** A process that is frozen or cut off must not hold back vacuum for long. */
const IDLE_MS = 60_000;
/** What a fetch should bring, in characters. */
const PART_LENGTH = 1_000_000;
const [FIRST_ROWS, ROWS_MAX] = [100, 5_000];

const KINDS: Record<number, CellKind> = {
  16: 'boolean',
  20: 'number',
  21: 'number',
  23: 'number',
  700: 'number',
  701: 'number',
  1082: 'date',
  1114: 'timestamp',
  1184: 'timestamp',
  1700: 'number',
};

/**
 * Reads the rows of a query by a cursor in a read-only transaction. The database refuses what is no
 * SELECT, several statements, and any write. The query is cancelled in the database when the signal
 * aborts or its time is over.
 */
export async function withQuery<T>(
  query: Query,
  watch: QueryWatch,
  use: (table: Table) => Promise<T>,
): Promise<T> {
  const timeOver = AbortSignal.timeout(query.seconds * 1_000);
  const stop = AbortSignal.any([watch.signal, timeOver]);
  stop.throwIfAborted();
  const client = await connected(query.database);
  let cancel: (() => void) | undefined;
  try {
    const pid = await begin(client, query, watch);
    cancel = () => void cancelBackend(query.database, pid).catch(() => undefined);
    stop.addEventListener('abort', cancel);
    stop.throwIfAborted();
    const result = await use(await open(client, query, stop));
    await client.query('commit');
    return result;
  } catch (error) {
    watch.signal.throwIfAborted();
    throw timeOver.aborted ? tooLong(query.seconds) : failureOf(error, query.seconds);
  } finally {
    if (cancel) stop.removeEventListener('abort', cancel);
    await client.end().catch(() => undefined);
  }
}

async function connected(database: string): Promise<Client> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: secretOf(database),
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'longshore report',
  });
  // A connection that breaks between statements fails the next one.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** All settings end with the transaction, because a pooler may give the connection to others. */
async function begin(
  client: Client,
  { seconds, timeZone }: Query,
  { warn }: QueryWatch,
): Promise<number> {
  await client.query('begin read only');
  const { rows } = await client.query<{ pid: number; super: boolean | null }>(
    `select pg_backend_pid() as pid,
            (select rolsuper from pg_roles where rolname = current_user) as super,
            set_config('datestyle', 'ISO, YMD', true), set_config('intervalstyle', 'postgres', true),
            set_config('timezone', $1, true), set_config('statement_timeout', $2, true),
            set_config('idle_in_transaction_session_timeout', $3, true),
            set_config('cursor_tuple_fraction', '1', true)`,
    [timeZone, String(seconds * 1_000), String(IDLE_MS)],
  );
  // The query ends soon after its process was killed. Some systems cannot watch the connection.
  await client.query('savepoint watching');
  await client
    .query(`set local client_connection_check_interval = '2s'`)
    .catch(async () => await client.query('rollback to savepoint watching'));
  if (rows[0]?.super) warn('the role of the database is a superuser: use one that can only read');
  return rows[0]?.pid ?? 0;
}

async function open(client: Client, query: Query, stop: AbortSignal): Promise<Table> {
  const select = query.sql.trim().replace(/;$/, '');
  // With one statement at a time, nothing can end the read-only transaction.
  const declare = { text: `declare report no scroll cursor for ${select}`, queryMode: 'extended' };
  await client.query({ ...declare, values: [...query.values] });
  const fetch = async (count: number): Promise<QueryArrayResult<string[]>> => {
    stop.throwIfAborted();
    const text = `fetch ${count} from report`;
    return await client.query<string[]>({ text, rowMode: 'array', types: AS_TEXT });
  };
  const first = await fetch(FIRST_ROWS);
  const columns = first.fields.map(({ name, dataTypeID }) =>
    columnOf(name, KINDS[dataTypeID] ?? 'text', query.columns[name]),
  );
  return { columns, parts: partsOf(first, FIRST_ROWS, fetch) };
}

const AS_TEXT = { getTypeParser: () => (value: string | Buffer) => value };

async function* partsOf(
  first: { rows: readonly Row[] },
  asked: number,
  fetch: (count: number) => Promise<{ rows: readonly Row[] }>,
): AsyncGenerator<readonly Row[]> {
  for (let part = first, count = asked; ; part = await fetch(count)) {
    if (part.rows.length > 0) yield part.rows;
    if (part.rows.length < count) return;
    // As many rows as fill a part, so that wide rows need no more memory than narrow ones.
    const mean = part.rows.reduce((sum, row) => sum + lengthOf(row), 0) / part.rows.length;
    count = Math.max(1, Math.min(ROWS_MAX, Math.floor(PART_LENGTH / Math.max(1, mean))));
  }
}

function lengthOf(row: Row): number {
  return row.reduce((sum, value) => sum + (value?.length ?? 0), 0);
}

/** From a second connection, because the first one waits for the query. */
async function cancelBackend(database: string, pid: number): Promise<void> {
  const client = await connected(database);
  try {
    await client.query('select pg_cancel_backend($1)', [pid]);
  } finally {
    await client.end();
  }
}

/** What a retry cannot repair: wrong SQL, missing rights, wrong values, and writes. */
const FINAL = /^(22|25006$|42|0A)/;

function failureOf(error: unknown, seconds: number): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  if (code === '57014') return tooLong(seconds);
  if (code === '25006') {
    return new NonRetryable(`the query of a report must only read: ${error.message}`);
  }
  if (!FINAL.test(code)) return error;
  const hint = 'the query of a report must be one SELECT that the role may run';
  return new NonRetryable(`${hint}: ${error.message}`);
}

function tooLong(seconds: number): Error {
  const words = `the query took longer than ${seconds} s: make it faster, or raise querySeconds`;
  return Object.assign(new Error(words), { code: 'TIMEOUT' });
}
