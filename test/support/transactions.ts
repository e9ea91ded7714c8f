import { PrismaPg } from '@prisma/adapter-pg';
import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import { sql } from 'drizzle-orm';
import knexOf from 'knex';
import { Kysely, PostgresDialect, sql as kyselySql } from 'kysely';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import type { Transaction } from '../../src/client/index.ts';
import { PrismaClient } from './prisma-client.ts';

/**
 * One transaction of each library, as its own documentation shows it: stores an order, lets the test
 * do its part in the same transaction, and commits, or rolls back when that throws.
 */
type Work = (tx: Transaction) => Promise<void>;
export type InTransaction = (url: string, order: number, work: Work) => Promise<void>;

export const LIBRARIES: Record<string, InTransaction> = {
  pg: async (url, order, work) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('insert into "Order" values ($1)', [order]);
      await work(client);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      await client.end();
    }
  },
  'postgres.js': async (url, order, work) => {
    const db = postgres(url, { max: 1 });
    try {
      await db.begin(async (tx) => {
        await tx`insert into "Order" values (${order})`;
        await work(tx);
      });
    } finally {
      await db.end();
    }
  },
  drizzle: async (url, order, work) => {
    const pool = new Pool({ connectionString: url });
    try {
      await drizzle(pool).transaction(async (tx) => {
        await tx.execute(sql`insert into "Order" values (${order})`);
        await work(tx);
      });
    } finally {
      await pool.end();
    }
  },
  'drizzle on postgres.js': async (url, order, work) => {
    const client = postgres(url, { max: 1 });
    try {
      await drizzleOnPostgresJs(client).transaction(async (tx) => {
        await tx.execute(sql`insert into "Order" values (${order})`);
        await work(tx);
      });
    } finally {
      await client.end();
    }
  },
  kysely: async (url, order, work) => {
    const pool = new Pool({ connectionString: url });
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    try {
      await db.transaction().execute(async (trx) => {
        await kyselySql`insert into "Order" values (${order})`.execute(trx);
        await work(trx);
      });
    } finally {
      await db.destroy();
    }
  },
  knex: async (url, order, work) => {
    const knex = knexOf({ client: 'pg', connection: url });
    try {
      await knex.transaction(async (trx) => {
        await trx('Order').insert({ id: order });
        await work(trx);
      });
    } finally {
      await knex.destroy();
    }
  },
  prisma: async (url, order, work) => {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
    try {
      await prisma.$transaction(async (tx) => {
        await tx.order.create({ data: { id: order } });
        await work(tx);
      });
    } finally {
      await prisma.$disconnect();
    }
  },
};

/** Objects that a caller could pass by mistake, and how to close them. */
export function notTransactions(
  url: string,
): [name: string, wrong: unknown, close: () => unknown][] {
  const pool = new Pool({ connectionString: url });
  const pgJs = postgres(url, { max: 1 });
  const kysely = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }),
  });
  const knex = knexOf({ client: 'pg', connection: url });
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
  return [
    ['a pool of pg', pool, () => pool.end()],
    ['the sql of postgres.js', pgJs, () => pgJs.end()],
    ['a drizzle database', drizzle(pool), () => undefined],
    ['a kysely database', kysely, () => kysely.destroy()],
    ['a knex database', knex, () => knex.destroy()],
    ['a prisma client', prisma, () => prisma.$disconnect()],
    ['something else', {}, () => undefined],
  ];
}
