import { DatabaseUnavailable } from './db.ts';

/**
 * Writes a batch that one bad row must not hold back. A statement takes all of its rows or none; so
 * when it refuses, the batch is cut in halves until the row that it cannot take stands alone. A
 * database that cannot be reached says nothing about any row: that is thrown, and what was not
 * written by then is for the caller to try again.
 */
export async function inHalves<T>(
  batch: readonly T[],
  write: (part: readonly T[]) => Promise<void>,
  refused: (item: T, error: unknown) => Promise<void> | void,
): Promise<void> {
  try {
    await write(batch);
  } catch (error) {
    if (error instanceof DatabaseUnavailable || batch.length === 0) throw error;
    if (batch.length === 1) return await refused(batch[0] as T, error);
    const middle = Math.ceil(batch.length / 2);
    await inHalves(batch.slice(0, middle), write, refused);
    await inHalves(batch.slice(middle), write, refused);
  }
}
