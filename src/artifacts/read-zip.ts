import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import type { ArchiveWalk } from './archive-walk.ts';

const TYPE = 0o170000;
const FOLDER = 0o040000;
const PLAIN = 0o100000;
const LINK = 0o120000;

/** Reads a zip by its central directory. */
export async function readZip(file: string, walk: ArchiveWalk): Promise<void> {
  // With decoded names, yauzl would repair some of them.
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false };
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(file, options);
    // The parts may overlap, so the sum says more than the size of the file.
    for await (const entry of zip.eachEntry()) await take(zip, entry, walk);
  } catch (error) {
    throw asArtifactError(error);
  } finally {
    zip?.close();
  }
}

async function take(zip: ZipFile, entry: Entry, walk: ArchiveWalk): Promise<void> {
  const written = nameOf(entry);
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & TYPE;
  if (type === LINK) throw new ArtifactError('ARCHIVE_LINK', `${written} is a symbolic link`);
  if (type !== 0 && type !== FOLDER && type !== PLAIN) {
    const words = `${written} is a special file; only files and folders are allowed`;
    throw new ArtifactError('ARCHIVE_DEVICE', words);
  }
  if (entry.isEncrypted()) {
    throw new ArtifactError('ARCHIVE_ENCRYPTED', `${written} is encrypted`);
  }
  const kind = written.endsWith('/') || type === FOLDER ? 'folder' : 'file';
  const bytes = kind === 'file' ? entry.uncompressedSize : 0;
  walk.requireRatio(walk.bytes + bytes);
  await walk.entry({ written, kind, bytes, mode }, kind === 'file' ? content(zip, entry) : none());
}

/** Bytes that are not UTF-8 become U+FFFD, which is refused. */
function nameOf(entry: Entry): string {
  const name: unknown = entry.fileName;
  return Buffer.isBuffer(name) ? name.toString('utf8') : String(name);
}

async function* content(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  let sum = 0;
  const stream = await zip.openReadStreamPromise(entry);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== entry.crc32) {
    throw new ArtifactError('NOT_AN_ARCHIVE', `${nameOf(entry)} is damaged: wrong checksum`);
  }
}

async function* none(): AsyncGenerator<Uint8Array> {}

const EARLY_END =
  /truncated|unexpected EOF|unexpected end of file|overflows file bounds|not enough/i;

function asArtifactError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ArtifactError) return error;
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined || /^E[A-Z]+$/.test(code)) return error;
  const isEarly = EARLY_END.test(error.message);
  if (/encrypt/.test(error.message)) {
    return new ArtifactError('ARCHIVE_ENCRYPTED', error.message, { cause: error });
  }
  return new ArtifactError(
    isEarly ? 'ARCHIVE_TRUNCATED' : 'NOT_AN_ARCHIVE',
    isEarly ? 'the archive ends too early' : `the archive is damaged: ${error.message}`,
    { cause: error },
  );
}
