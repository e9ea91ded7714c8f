import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import {
  allStatements,
  type Queryable,
  SESSION,
  type Statement,
} from '../../../src/store/connection/db.ts';
import { CITUS_SESSION } from '../../../src/store/connection/backend.ts';
import { plainQueryable } from '../plain-queryable.ts';
import { isOnCitus, type TestDatabase } from './database.ts';
import { until } from '../until.ts';

/**
 * A second connection that stands still wherever the test wants it: it runs the product's own
 * functions inside a transaction that the test ends. While it is open its row locks are held, so
 * the other side, on the pool, meets exactly this moment.
 */
export class HeldLink implements Queryable {
  readonly #plain = plainQueryable();
  readonly vault = this.#plain.vault;
  readonly clock = this.#plain.clock;
  readonly ids = this.#plain.ids;
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async begin({ url }: TestDatabase): Promise<HeldLink> {
    const client = new Client({ connectionString: url, options: SESSION });
    await client.connect();
    onTestFinished(async () => await client.end());
    if (isOnCitus()) await client.query(CITUS_SESSION);
    await client.query('begin');
    return new HeldLink(client);
  }

  async run<Row>(statement: Statement<Row>, values: readonly unknown[] = []): Promise<Row[]> {
    const { name } = statement;
    const text = textHere(statement);
    return (await this.#client.query({ name, text, values: [...values] })).rows as Row[];
  }

  async commit(): Promise<void> {
    await this.#client.query('commit');
  }

  async rollback(): Promise<void> {
    await this.#client.query('rollback');
  }
}

/** What the product sends to the database of this run. */
export function textHere({ text, citus = text }: Statement<unknown>): string {
  return isOnCitus() ? citus : text;
}

/** The product's statement of this name, for moments in the middle of a function. */
export function statementNamed(name: string): Statement<unknown> {
  const found = allStatements.find((statement) => statement.name === name);
  if (!found) throw new Error(`no statement ${name}`);
  return found;
}

/** Waits until this number of sessions of the database wait for a lock. */
export async function untilBlocked({ sql }: TestDatabase, sessions = 1): Promise<void> {
  await until(`${sessions} session(s) wait for a lock`, async () => {
    const rows = await sql(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length === sessions;
  });
}
