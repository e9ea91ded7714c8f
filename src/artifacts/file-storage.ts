import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import { isReportName } from '../core/report/report-name.ts';
import { hashIn, missing, type OpenedStorage, SHA256, unavailable, verified } from './storage.ts';
import { syncFolder } from './unpack.ts';

const UNFINISHED = /^\..*\.tmp$/;
const UNFINISHED_MS_MAX = 24 * 3_600_000;
/** A folder may have many files, so they are not listed for each. */
const SWEEP_EVERY_MS = 600_000;

/** Archives as files of a folder. A file has its name only when it is complete and on the disk. */
export class FileStorage implements OpenedStorage {
  readonly address: string;
  readonly #folder: string;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(folder: string) {
    this.#folder = folder;
    this.address = `file:${folder}`;
  }

  async put(name: string, bytes: number, source: AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.#path(name);
    const temporary = join(this.#folder, `.${randomUUID()}.tmp`);
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await write(temporary, verified(source, hashIn(name), bytes));
      await this.#removeOld(temporary);
      await rename(temporary, path);
      await syncFolder(this.#folder);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw this.#typed(error);
    }
  }

  async get(name: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const path = this.#path(name);
    const found = await this.head(name);
    if (!found) throw missing(name, this.address);
    const stream = createReadStream(path, { signal });
    return this.#reading(verified(stream, hashIn(name), found.bytes), name);
  }

  async head(name: string): Promise<{ bytes: number } | null> {
    try {
      return { bytes: (await stat(this.#path(name))).size };
    } catch (error) {
      if (isMissing(error)) return null;
      throw this.#typed(error);
    }
  }

  async delete(name: string): Promise<void> {
    try {
      await unlink(this.#path(name));
    } catch (error) {
      if (!isMissing(error)) throw this.#typed(error);
    }
  }

  close(): void {}

  /** The artifacts in the folder. Unfinished files of killed processes are not among them. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => SHA256.test(name)).sort();
  }

  async *reports(): AsyncGenerator<string> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw this.#typed(error);
    });
    yield* names.filter(isReportName);
  }

  /** Files that killed processes left unfinished, long before this one was written. */
  async #removeOld(fresh: string): Promise<void> {
    const { mtimeMs: nowMs } = await stat(fresh);
    if (nowMs - this.#sweptMs < SWEEP_EVERY_MS) return;
    this.#sweptMs = nowMs;
    for (const name of await readdir(this.#folder)) {
      if (!UNFINISHED.test(name)) continue;
      const path = join(this.#folder, name);
      const writtenMs = (await stat(path).catch(() => null))?.mtimeMs ?? nowMs;
      if (nowMs - writtenMs > UNFINISHED_MS_MAX) await rm(path, { force: true });
    }
  }

  async *#reading(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      throw isMissing(error) ? missing(name, this.address) : this.#typed(error);
    }
  }

  #path(name: string): string {
    hashIn(name);
    return join(this.#folder, name);
  }

  #typed(error: unknown): unknown {
    const { syscall } = error as NodeJS.ErrnoException;
    return error instanceof ArtifactError || syscall === undefined
      ? error
      : unavailable(this.address, error);
  }
}

async function write(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
