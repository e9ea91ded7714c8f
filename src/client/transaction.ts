/**
 * The caller's transaction, of any of these libraries. They are recognized by their methods, so
 * none of them is a dependency. A pool or a database object is refused: the job would be stored
 * even if the transaction rolls back.
 */

/** pg: a client, between `begin` and `commit`. */
export interface PgTransaction {
  query(text: string, values: unknown[]): PromiseLike<unknown>;
}

/** postgres.js: the `sql` that `sql.begin` gives. */
export interface PostgresJsTransaction {
  unsafe(text: string, values: never[]): PromiseLike<unknown>;
  savepoint: unknown;
}

/** Drizzle: the `tx` that `db.transaction` gives. */
export interface DrizzleTransaction {
  execute(query: string): PromiseLike<unknown>;
  rollback(): never;
}

/** Kysely: the `trx` that `db.transaction().execute` gives. */
export interface KyselyTransaction {
  executeQuery(query: never): PromiseLike<unknown>;
  readonly isTransaction: true;
}

/** Knex: the `trx` that `knex.transaction` gives. */
export interface KnexTransaction {
  raw(text: string, values: readonly string[]): PromiseLike<unknown>;
  readonly isTransaction?: boolean | undefined;
}

/** Prisma: the `tx` that `prisma.$transaction` gives. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>;
}

export type Transaction =
  | PgTransaction
  | PostgresJsTransaction
  | DrizzleTransaction
  | KyselyTransaction
  | KnexTransaction
  | PrismaTransaction;

type Rows = readonly Record<string, unknown>[];

const NOT_ONE =
  'enqueueIn wants the transaction that pg, postgres.js, drizzle, kysely, knex or prisma gives you';

/** Calls `longshore.enqueue`. The request is sent as text, so that no driver encodes it again. */
export async function callEnqueue(tx: Transaction, json: string): Promise<Rows[number]> {
  const [row] = rowsOf(await send(tx, json));
  if (!row) throw new Error('longshore.enqueue returned no row');
  return row;
}

async function send(tx: Transaction | undefined | null, json: string): Promise<unknown> {
  if (tx === undefined || tx === null) throw new TypeError(`${NOT_ONE}, not ${String(tx)}`);
  const numbered = call('$1::text::jsonb');
  if (has(tx, '$queryRawUnsafe')) {
    if (has(tx, '$connect')) throw notOne('the prisma client itself');
    return await (tx as PrismaTransaction).$queryRawUnsafe(numbered, json);
  }
  if (has(tx, 'executeQuery')) {
    if (!isTransaction(tx)) throw notOne('a kysely database');
    const query = { kind: 'RawNode', sqlFragments: [numbered], parameters: [] };
    const compiled = { sql: numbered, query, parameters: [json], queryId: { queryId: 'enqueue' } };
    return await (tx as KyselyTransaction).executeQuery(compiled as never);
  }
  if (has(tx, 'raw')) {
    if (!isTransaction(tx)) throw notOne('a knex database');
    return await (tx as KnexTransaction).raw(call('?::text::jsonb'), [json]);
  }
  if (has(tx, 'unsafe')) {
    if (!has(tx, 'savepoint')) throw notOne('the sql of a whole connection pool');
    return await (tx as PostgresJsTransaction).unsafe(numbered, [json as never]);
  }
  if (has(tx, 'execute')) {
    if (!has(tx, 'rollback')) throw notOne('a drizzle database');
    return await (tx as DrizzleTransaction).execute(call(asLiteral(json)));
  }
  if (!has(tx, 'query')) throw new TypeError(NOT_ONE);
  if ('totalCount' in tx) throw notOne('a pool');
  return await (tx as PgTransaction).query(numbered, [json]);
}

function call(argument: string): string {
  return `select job_id::text as "jobId", status, created from longshore.enqueue(${argument})`;
}

/**
 * Drizzle accepts values only in its own objects. Hex digits need no quoting under any setting.
 */
function asLiteral(json: string): string {
  const bytes = new TextEncoder().encode(json);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `convert_from(decode('${hex}', 'hex'), 'UTF8')::jsonb`;
}

function notOne(what: string): TypeError {
  return new TypeError(`${NOT_ONE}, not ${what}: the job would not be part of it`);
}

function has(tx: object, method: string): boolean {
  return typeof (tx as Record<string, unknown>)[method] === 'function';
}

function isTransaction(tx: object): boolean {
  return 'isTransaction' in tx && tx.isTransaction === true;
}

function rowsOf(answer: unknown): Rows {
  if (Array.isArray(answer)) return answer as Rows;
  return (answer as { rows?: Rows } | null)?.rows ?? [];
}
