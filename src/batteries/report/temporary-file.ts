import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A file in the temporary folder of the attempt. The storage needs size and hash before the first
 * byte, so a report that fails half way never gets there. The folder of an attempt that was killed
 * is removed by its worker.
 */
export class TemporaryFile {
  readonly #path: string;
  bytes = 0;
  sha256 = '';

  private constructor(path: string) {
    this.#path = path;
  }

  static async use<T>(work: (file: TemporaryFile) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), 'report-'));
    try {
      return await work(new TemporaryFile(join(folder, 'report')));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async write(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const hash = createHash('sha256');
    const handle = await open(this.#path, 'wx', 0o600);
    try {
      for await (const chunk of chunks) {
        hash.update(chunk);
        this.bytes += chunk.length;
        await handle.writeFile(chunk);
      }
    } finally {
      await handle.close();
    }
    this.sha256 = hash.digest('hex');
  }

  read(): AsyncIterable<Uint8Array> {
    return createReadStream(this.#path);
  }
}
