import { open } from 'node:fs/promises';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import {
  MANIFEST_FILE,
  MANIFEST_MAX_BYTES,
  type Manifest,
  parseManifest,
} from '../core/artifact/manifest.ts';
import { resolveEntrypoints } from '../core/artifact/resolve-entrypoints.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from './archive-limits.ts';
import { ArchiveWalk, type Visit } from './archive-walk.ts';
import { readTar } from './read-tar.ts';
import { readZip } from './read-zip.ts';

export interface ReadOptions {
  limits?: Partial<ArchiveLimits>;
  /** `optional`: the manifest is elsewhere, such as in the call that uploads the archive. */
  manifest?: 'required' | 'optional';
}

export interface ArchiveContent {
  format: ArchiveFormat;
  files: ReadonlySet<string>;
  /** All files together. */
  bytes: number;
  /** With the files of its modules; null: there is none. */
  manifest: Manifest | null;
}

export type ArchiveFormat = 'tar.gz' | 'zip';

/** Reads every entry once and checks it; writes nothing. Throws `ArtifactError`. */
export async function readArchive(
  file: string,
  { limits, manifest = 'required' }: ReadOptions,
  visit: Visit,
): Promise<ArchiveContent> {
  const { format, archiveBytes } = await formatOf(file);
  let text: Uint8Array | null = null;
  const walk = new ArchiveWalk(
    archiveBytes,
    { ...ARCHIVE_LIMITS, ...limits },
    async (entry, content) => {
      if (entry.path !== MANIFEST_FILE) return await visit(entry, content);
      if (entry.bytes > MANIFEST_MAX_BYTES) {
        const words = `${MANIFEST_FILE} has more than ${MANIFEST_MAX_BYTES} bytes`;
        throw new ArtifactError('MANIFEST_INVALID', words);
      }
      text = await bytesOf(content);
      await visit(entry, once(text));
    },
  );
  await (format === 'zip' ? readZip(file, walk) : readTar(file, walk));
  if (text === null && manifest === 'required') {
    throw new ArtifactError('MANIFEST_MISSING', `the archive has no ${MANIFEST_FILE} at its top`);
  }
  const { files } = walk.paths;
  return {
    format,
    files,
    bytes: walk.bytes,
    manifest: text === null ? null : resolveEntrypoints(parseManifest(text), files),
  };
}

async function bytesOf(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Checks an archive without unpacking it. */
export async function inspectArchive(
  file: string,
  options: ReadOptions = {},
): Promise<ArchiveContent> {
  return await readArchive(file, options, async (entry, content) => {
    let bytes = 0;
    for await (const chunk of content) bytes += chunk.length;
    if (bytes !== entry.bytes) {
      throw new ArtifactError('NOT_AN_ARCHIVE', `${entry.path} has another size than it says`);
    }
  });
}

/** A zip begins with an entry, or with its end. */
const ZIP_STARTS = ['PK\x03\x04', 'PK\x05\x06'];

async function formatOf(file: string): Promise<{ format: ArchiveFormat; archiveBytes: number }> {
  const handle = await open(file, 'r');
  try {
    const { size: archiveBytes } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    const start = buffer.toString('latin1');
    if (start.startsWith('\x1f\x8b')) return { format: 'tar.gz', archiveBytes };
    if (ZIP_STARTS.includes(start)) return { format: 'zip', archiveBytes };
    throw new ArtifactError('NOT_AN_ARCHIVE', 'the file is neither tar.gz nor zip');
  } finally {
    await handle.close();
  }
}
