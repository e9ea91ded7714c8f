import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import type { ArchiveWalk } from './archive-walk.ts';

const FILES = ['File', 'OldFile', 'ContiguousFile'];

/** Reads a tar.gz. The parser is strict: what it would skip or repair is an error here. */
export async function readTar(file: string, walk: ArchiveWalk): Promise<void> {
  const source = createReadStream(file);
  const inflated = createGunzip();
  source.on('error', (error) => inflated.destroy(error));
  source.pipe(inflated);
  const tar = new TarEntries(walk);
  try {
    let bytes = 0;
    for await (const chunk of inflated as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      walk.requireRatio(bytes);
      await tar.write(chunk);
    }
    await tar.end();
  } catch (error) {
    await tar.stop(error);
    throw asArtifactError(error);
  } finally {
    source.destroy();
    inflated.destroy();
  }
}

/** The entries of a tar, one after another; `write` waits until they are taken. */
class TarEntries {
  readonly #parser: Parser;
  readonly #failed = new AbortController();
  #taking: Promise<void> = Promise.resolve();
  #sawEnd = false;

  constructor(walk: ArchiveWalk) {
    const fail = (error: unknown) => this.#failed.abort(error);
    const attempt = (work: () => void) => {
      try {
        work();
      } catch (error) {
        fail(error);
      }
    };
    this.#parser = new Parser({
      strict: true,
      onReadEntry: (entry) => {
        this.#taking = this.#taking.then(() => take(entry, walk, this.#failed.signal)).catch(fail);
      },
    });
    this.#parser.on('error', fail);
    this.#parser.on('eof', () => (this.#sawEnd = true));
    this.#parser.on('ignoredEntry', (entry: ReadEntry) => fail(special(entry)));
    this.#parser.on('meta', (text: string) =>
      attempt(() => {
        walk.count();
        requireNoNul(text);
      }),
    );
  }

  async write(chunk: Buffer): Promise<void> {
    this.#failed.signal.throwIfAborted();
    // What follows the end is padding.
    if (this.#sawEnd) return;
    if (!this.#parser.write(chunk)) {
      await once(this.#parser, 'drain', { signal: this.#failed.signal });
    }
    this.#failed.signal.throwIfAborted();
  }

  /** Resolves when the last visit has ended. */
  async stop(error: unknown): Promise<void> {
    this.#failed.abort(error);
    await this.#taking;
  }

  async end(): Promise<void> {
    const ended = once(this.#parser, 'end', { signal: this.#failed.signal });
    this.#parser.end();
    await ended;
    await this.#taking;
    this.#failed.signal.throwIfAborted();
    if (!this.#sawEnd) throw new ArtifactError('ARCHIVE_TRUNCATED', 'the tar has no end');
  }
}

async function take(entry: ReadEntry, walk: ArchiveWalk, failed: AbortSignal): Promise<void> {
  failed.throwIfAborted();
  if (entry.type === 'SymbolicLink') {
    throw new ArtifactError('ARCHIVE_LINK', `${entry.path} is a symbolic link`);
  }
  if (entry.type === 'Link') {
    throw new ArtifactError('ARCHIVE_HARD_LINK', `${entry.path} is a hard link`);
  }
  const kind = FILES.includes(entry.type) ? 'file' : 'folder';
  if (kind === 'folder' && entry.type !== 'Directory') throw special(entry);
  const { path: written, size: bytes, mode = 0 } = entry;
  await walk.entry({ written, kind, bytes, mode }, contentOf(entry, failed));
  // A parser waits for the end of each entry.
  entry.resume();
}

/** Ends with the reason when the parser fails, which would otherwise never end the entry. */
async function* contentOf(entry: ReadEntry, failed: AbortSignal): AsyncGenerator<Uint8Array> {
  const chunks = entry[Symbol.asyncIterator]();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(failed.reason);
  promise.catch(() => undefined);
  failed.addEventListener('abort', stop);
  try {
    for (;;) {
      failed.throwIfAborted();
      const { done, value } = await Promise.race([chunks.next(), promise]);
      if (done === true) return;
      yield value;
    }
  } finally {
    failed.removeEventListener('abort', stop);
  }
}

function special(entry: ReadEntry): ArtifactError {
  return new ArtifactError(
    'ARCHIVE_DEVICE',
    `${entry.path} is a ${entry.type}; only files and folders are allowed`,
  );
}

/** The parser cuts a long path at NUL. One NUL at the end is normal in GNU's form. */
function requireNoNul(text: string): void {
  if (/\0[^\0]/.test(text)) throw new ArtifactError('ARCHIVE_NUL', 'a path contains NUL');
}

function asArtifactError(error: unknown): unknown {
  const reason = error instanceof Error && error.name === 'AbortError' ? error.cause : error;
  if (!(reason instanceof Error) || reason instanceof ArtifactError) return reason;
  const { code = '' } = reason as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR' || /Truncated input/.test(reason.message)) {
    const words = 'the archive ends too early';
    return new ArtifactError('ARCHIVE_TRUNCATED', words, { cause: reason });
  }
  if (/^(Z|TAR)_/.test(code)) {
    const words = `the archive is damaged: ${reason.message}`;
    return new ArtifactError('NOT_AN_ARCHIVE', words, { cause: reason });
  }
  return reason;
}
