import { Pool, type PoolClient } from 'pg';

/** The tables of the application, in the same database as its jobs. */
export async function openPool(connectionString: string): Promise<Pool> {
  const pool = new Pool({ connectionString });
  await pool.query('create table if not exists public.person (email text primary key)');
  return pool;
}

export async function inTransaction<T>(
  pool: Pool,
  work: (tx: PoolClient) => Promise<T>,
): Promise<T> {
  const tx = await pool.connect();
  try {
    await tx.query('begin');
    const result = await work(tx);
    await tx.query('commit');
    return result;
  } catch (error) {
    await tx.query('rollback');
    throw error;
  } finally {
    tx.release();
  }
}
