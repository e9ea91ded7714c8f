import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MEMORY = '/dev/shm';
/** Far more than the clusters of a test run ever take. */
const ROOM_BYTES = 3 * 1024 ** 3;

/**
 * A folder for what is thrown away after the run: in memory where there is room for it. A clone of a
 * database is some seven hundred small files, and making these on a disk takes ten times as long.
 */
export async function quickFolder(prefix: string): Promise<string> {
  const room = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return await mkdtemp(path.join(room > ROOM_BYTES ? MEMORY : tmpdir(), prefix));
}
