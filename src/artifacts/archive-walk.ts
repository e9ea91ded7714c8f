import { ArtifactError } from '../core/artifact/artifact-error.ts';
import { EntryPaths, entryPath } from '../core/artifact/entry-path.ts';
import type { ArchiveLimits } from './archive-limits.ts';

export interface ArchiveEntry {
  /** Plain: relative, with single slashes. */
  path: string;
  kind: 'file' | 'folder';
  bytes: number;
  executable: boolean;
  /** The folders that this entry adds, outermost first, itself included. */
  folders: string[];
}

/** Takes the whole content of a file; a folder has none. */
export type Visit = (entry: ArchiveEntry, content: AsyncIterable<Uint8Array>) => Promise<void>;

export interface FoundEntry {
  written: string;
  kind: 'file' | 'folder';
  bytes: number;
  mode: number;
}

const SETUID_OR_SETGID = 0o6000;
const ANY_EXECUTE = 0o111;

/** The rules for the entries of an archive, of both formats. */
export class ArchiveWalk {
  readonly paths = new EntryPaths();
  readonly #limits: ArchiveLimits;
  readonly #archiveBytes: number;
  readonly #visit: Visit;
  #entries = 0;
  #bytes = 0;

  constructor(archiveBytes: number, limits: ArchiveLimits, visit: Visit) {
    this.#archiveBytes = archiveBytes;
    this.#limits = limits;
    this.#visit = visit;
    const { archiveBytesMax } = limits;
    if (archiveBytes > archiveBytesMax) {
      throw new ArtifactError(
        'ARCHIVE_TOO_LARGE',
        `the archive has ${archiveBytes} bytes; the limit is ${archiveBytesMax}`,
      );
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts an entry, or a header that belongs to one. */
  count(entries = 1): void {
    this.#entries += entries;
    const { entriesMax } = this.#limits;
    if (this.#entries > entriesMax) {
      const words = `the archive has more than ${entriesMax} entries`;
      throw new ArtifactError('ARCHIVE_TOO_MANY_ENTRIES', words);
    }
  }

  /** `inflatedBytes` is how much the archive has become so far. */
  requireRatio(inflatedBytes: number): void {
    const { ratioMax, ratioFreeBytes } = this.#limits;
    if (inflatedBytes > Math.max(ratioFreeBytes, ratioMax * this.#archiveBytes)) {
      throw new ArtifactError(
        'ARCHIVE_BOMB',
        `the content is more than ${ratioMax} times as large as the archive`,
      );
    }
  }

  async entry(found: FoundEntry, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { written, kind, bytes, mode } = found;
    this.count();
    const path = entryPath(written);
    // The folder of the bundle itself.
    if (path === '' && kind === 'folder') return;
    if (kind === 'file') this.#requireFile(path, bytes, mode);
    const folders = this.paths.add(path, kind);
    const executable = (mode & ANY_EXECUTE) !== 0;
    await this.#visit({ path, kind, bytes, executable, folders }, content);
  }

  #requireFile(path: string, bytes: number, mode: number): void {
    const { entryBytesMax, contentBytesMax } = this.#limits;
    if (path === '') throw new ArtifactError('ARCHIVE_PATH_INVALID', 'a file needs a name');
    if ((mode & SETUID_OR_SETGID) !== 0) {
      throw new ArtifactError('ARCHIVE_SETUID', `${path} has the setuid or setgid bit`);
    }
    if (bytes > entryBytesMax) {
      const words = `${path} has ${bytes} bytes; the limit is ${entryBytesMax}`;
      throw new ArtifactError('ARCHIVE_ENTRY_TOO_LARGE', words);
    }
    this.#bytes += bytes;
    if (this.#bytes > contentBytesMax) {
      const words = `the files have more than ${contentBytesMax} bytes together`;
      throw new ArtifactError('ARCHIVE_TOO_LARGE', words);
    }
  }
}
