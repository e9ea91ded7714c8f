import { DatabaseUnavailable } from './db.ts';

/**
 * Writes a batch that one invalid row must not block. A statement writes all of its rows or none;
 * when it refuses, the batch is split in halves until the invalid row is alone. If the database
 * cannot be reached, the error is thrown, and the caller tries the unwritten rows again.
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
