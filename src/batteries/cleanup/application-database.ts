import type { Client } from 'pg';
import { secretOf } from '../ready-job.ts';

const CONNECT_MS = 10_000;

/** Runs work on a connection to the database of the application. `url` names an environment variable. */
export async function onDatabase<T>(
  url: string,
  statementMs: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: secretOf(url),
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statementMs,
    application_name: 'longshore cleanup',
  });
  // A connection that breaks between statements fails the next one.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** `orders`, or `shop.orders` with its schema, quoted. */
export function quoted(name: string): string {
  return name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.');
}
