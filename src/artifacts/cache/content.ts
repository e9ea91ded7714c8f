import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, open, readdir, readFile, rename, rm, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ArtifactError } from '../../core/artifact/artifact-error.ts';
import { MANIFEST_FILE, type Manifest, parseManifest } from '../../core/artifact/manifest.ts';
import { resolveEntrypoints } from '../../core/artifact/resolve-entrypoints.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../archive-limits.ts';
import { verified } from '../storage.ts';
import { removeTree, syncFolder, unpack } from '../unpack.ts';
import type { Owner } from './owner.ts';

/** The steps of a download, for tests that kill a process at each. */
export type CacheStep =
  | 'locked'
  | 'marked'
  | 'fetching'
  | 'downloading'
  | 'downloaded'
  | 'unpacking'
  | 'unpacked'
  | 'renamed'
  | 'synced'
  | 'unlocked'
  | 'evicting';

export type Fetch = (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

export interface CachedContent {
  folder: string;
  bytes: number;
  manifest: Manifest | null;
}

/**
 * The folder with unpacked artifacts. A name without a dot is a complete, read-only artifact; a name
 * with a dot is the work of one process, whose token it has.
 */
export class ContentFolder {
  readonly #folder: string;
  readonly #owner: Owner;
  readonly #limits: ArchiveLimits;
  readonly #onStep: (step: CacheStep) => Promise<void> | void;
  #works = 0;

  constructor(
    folder: string,
    owner: Owner,
    limits: Partial<ArchiveLimits> = {},
    onStep: (step: CacheStep) => Promise<void> | void = () => undefined,
  ) {
    this.#folder = folder;
    this.#owner = owner;
    this.#limits = { ...ARCHIVE_LIMITS, ...limits };
    this.#onStep = onStep;
  }

  /** Jobs may have users of their own: they pass through the folder, but cannot list it. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await chmod(this.#folder, 0o711);
  }

  async has(name: string): Promise<boolean> {
    return (await lstat(this.#path(name)).catch(() => null)) !== null;
  }

  /** The caller holds the lock of the name. */
  async download(name: string, sha256: string, fetch: Fetch, signal: AbortSignal): Promise<void> {
    const work = this.#newWork();
    const archive = `${work}.archive`;
    try {
      await this.#onStep('fetching');
      signal.throwIfAborted();
      await this.#write(archive, await fetch(signal), sha256, signal);
      await this.#onStep('downloaded');
      await unpack(archive, work, {
        limits: this.#limits,
        manifest: 'optional',
        onFile: async () => await this.#onStep('unpacking'),
      });
      await rm(archive);
      await this.#onStep('unpacked');
      await rename(work, this.#path(name));
      await this.#onStep('renamed');
      await syncFolder(this.#folder);
      await this.#onStep('synced');
    } catch (error) {
      await rm(archive, { force: true });
      await removeTree(work);
      throw error;
    }
  }

  async read(name: string): Promise<CachedContent> {
    const folder = this.#path(name);
    const { files, bytes } = await filesOf(folder);
    const text = files.has(MANIFEST_FILE) ? await readFile(join(folder, MANIFEST_FILE)) : null;
    const manifest = text && resolveEntrypoints(parseManifest(text), files);
    return { folder, bytes, manifest };
  }

  /** Makes it the one that was used last. */
  async touch(name: string, now: Date): Promise<void> {
    await utimes(this.#path(name), now, now);
  }

  /** The complete artifacts; the one that was used longest ago is first. */
  async list(): Promise<string[]> {
    const found: { name: string; usedMs: number }[] = [];
    for (const name of await readdir(this.#folder)) {
      const stat = name.startsWith('.') ? null : await lstat(this.#path(name)).catch(() => null);
      if (stat) found.push({ name, usedMs: stat.mtimeMs });
    }
    return found.sort((a, b) => a.usedMs - b.usedMs).map(({ name }) => name);
  }

  async bytesOf(name: string): Promise<number> {
    return (await filesOf(this.#path(name))).bytes;
  }

  /** The caller holds the lock of the name. A half-removed artifact never has its name. */
  async remove(name: string): Promise<void> {
    const work = this.#newWork();
    await rename(this.#path(name), work);
    await this.#onStep('evicting');
    await removeTree(work);
  }

  /** Removes the work of dead processes. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const token = /^\.([0-9a-f]+)-/.exec(name)?.[1];
      if (token !== undefined && !(await this.#owner.isAlive(token))) {
        await removeTree(this.#path(name));
      }
    }
  }

  async #write(
    path: string,
    source: AsyncIterable<Uint8Array>,
    sha256: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { archiveBytesMax } = this.#limits;
    const handle = await open(path, 'wx', 0o600);
    let bytes = 0;
    try {
      for await (const chunk of verified(source, sha256)) {
        signal.throwIfAborted();
        bytes += chunk.length;
        if (bytes > archiveBytesMax) {
          const words = `the archive has more than ${archiveBytesMax} bytes`;
          throw new ArtifactError('ARCHIVE_TOO_LARGE', words);
        }
        await handle.writeFile(chunk);
        await this.#onStep('downloading');
      }
    } finally {
      await handle.close();
    }
  }

  #newWork(): string {
    this.#works += 1;
    return this.#path(`.${this.#owner.token}-${this.#works}`);
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

/** The name of an artifact in the cache. Tenants do not share folders, so each has a scope. */
export function contentName(sha256: string, scope: string | null): string {
  if (scope === null) return sha256;
  return `${createHash('sha256').update(scope).digest('hex').slice(0, 16)}-${sha256}`;
}

async function filesOf(folder: string): Promise<{ files: Set<string>; bytes: number }> {
  const files = new Set<string>();
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.add(relative(folder, path));
    bytes += (await lstat(path)).size;
  }
  return { files, bytes };
}
