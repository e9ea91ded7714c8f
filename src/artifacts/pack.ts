import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Header, Pax } from 'tar';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import { entryPath } from '../core/artifact/entry-path.ts';

export interface Packed {
  sha256: string;
  bytes: number;
  files: number;
}

/** Not part of any bundle. */
const LEFT_OUT = ['.git', '.DS_Store'];
const BLOCK = 512;

/**
 * Packs a folder as tar.gz. The same content gives the same bytes: paths are sorted, and times,
 * owners and all modes but "executable" are left out.
 */
export async function packFolder(folder: string, archive: string): Promise<Packed> {
  const files = (await filesIn(folder, '')).sort((a, b) => (a.path < b.path ? -1 : 1));
  const hash = createHash('sha256');
  let bytes = 0;
  const measured = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const target = createWriteStream(archive, { flush: true });
  await pipeline(Readable.from(tarOf(folder, files)), createGzip({ level: 9 }), measured, target);
  return { sha256: hash.digest('hex'), bytes, files: files.length };
}

interface PackedFile {
  path: string;
  size: number;
  executable: boolean;
}

async function filesIn(root: string, under: string): Promise<PackedFile[]> {
  const found: PackedFile[] = [];
  for (const name of await readdir(join(root, under))) {
    if (LEFT_OUT.includes(name)) continue;
    const path = under === '' ? name : `${under}/${name}`;
    entryPath(path);
    const stat = await lstat(join(root, path));
    if (stat.isDirectory()) found.push(...(await filesIn(root, path)));
    else if (stat.isFile()) {
      found.push({ path, size: stat.size, executable: (stat.mode & 0o100) !== 0 });
    } else {
      const code = stat.isSymbolicLink() ? 'ARCHIVE_LINK' : 'ARCHIVE_DEVICE';
      throw new ArtifactError(code, `${path} is neither a file nor a folder: copy what it means`);
    }
  }
  return found;
}

async function* tarOf(folder: string, files: readonly PackedFile[]): AsyncGenerator<Buffer> {
  for (const { path, size, executable } of files) {
    yield* headerOf({ path, size, mode: executable ? 0o755 : 0o644 });
    let read = 0;
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
      read += chunk.length;
      yield chunk;
    }
    if (read !== size) throw new Error(`${path} changed while it was packed`);
    if (size % BLOCK !== 0) yield Buffer.alloc(BLOCK - (size % BLOCK));
  }
  yield Buffer.alloc(2 * BLOCK);
}

function headerOf(fields: { path: string; size: number; mode: number }): Buffer[] {
  const header = new Header({ ...fields, type: 'File', uid: 0, gid: 0, mtime: new Date(0) });
  const block = Buffer.alloc(BLOCK);
  const needsMore = header.encode(block);
  return needsMore ? [new Pax({ path: fields.path, size: fields.size }).encode(), block] : [block];
}
