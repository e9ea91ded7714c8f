import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import { ARCHIVE_LIMITS } from './archive-limits.ts';

export interface Received {
  sha256: string;
  bytes: number;
}

/**
 * Writes an upload to a new file and hashes it meanwhile. The file is not durable: it is for
 * `inspectArchive` and for a storage to read. When it rejects, the file is gone.
 */
export async function receiveArchive(
  source: AsyncIterable<Uint8Array>,
  file: string,
  bytesMax = ARCHIVE_LIMITS.archiveBytesMax,
): Promise<Received> {
  const hash = createHash('sha256');
  let bytes = 0;
  const handle = await open(file, 'wx', 0o600);
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        const words = `the archive has more than ${bytesMax} bytes`;
        throw new ArtifactError('ARCHIVE_TOO_LARGE', words);
      }
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}
