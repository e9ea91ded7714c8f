import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../core/artifact/manifest.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { ArchiveLimits } from './archive-limits.ts';
import {
  type CachedContent,
  type CacheStep,
  ContentFolder,
  contentName,
  type Fetch,
} from './cache/content.ts';
import { Locks } from './cache/locks.ts';
import { Owner } from './cache/owner.ts';
import { requireSha256 } from './storage.ts';

export interface CacheOptions {
  folder: string;
  /** Of unpacked files. What is in use stays, so the folder may have more for a while. */
  bytesMax: number;
  limits?: Partial<ArchiveLimits>;
  clock?: Clock;
  /** For tests. */
  onStep?: (step: CacheStep) => Promise<void> | void;
}

/** An unpacked artifact that stays until it is released. */
export interface HeldArtifact {
  sha256: string;
  /** Read-only. */
  folder: string;
  bytes: number;
  /** Null when the archive has none. */
  manifest: Manifest | null;
  release(): Promise<void>;
}

interface Entry {
  uses: number;
  /** Marks the artifact as used by this process, for the others. */
  mark: string;
  loading: Promise<CachedContent>;
}

/**
 * The artifacts of the workers of a machine. Several processes may share the folder: an artifact is
 * downloaded by one of them, and none removes what another uses. A process that is killed at any
 * moment leaves nothing that looks complete but is not, and what it leaves is removed by the next.
 */
export class ArtifactCache {
  readonly #options: CacheOptions;
  readonly #owner: Owner;
  readonly #locks: Locks;
  readonly #content: ContentFolder;
  readonly #marks: string;
  readonly #entries = new Map<string, Entry>();
  readonly #bytes = new Map<string, number>();
  readonly #closed = new AbortController();
  #markCount = 0;
  #evicting: Promise<void> = Promise.resolve();

  private constructor(options: CacheOptions, owner: Owner) {
    const { folder, limits, onStep } = options;
    this.#options = options;
    this.#owner = owner;
    this.#locks = new Locks(join(folder, 'locks'), owner);
    this.#content = new ContentFolder(join(folder, 'content'), owner, limits, onStep);
    this.#marks = join(folder, 'uses');
  }

  /** Removes what killed processes left. */
  static async open(options: CacheOptions): Promise<ArtifactCache> {
    const { folder } = options;
    const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
    if (isNew) await chmod(folder, 0o711);
    const owner = await Owner.create(join(folder, 'owners'));
    const cache = new ArtifactCache(options, owner);
    await mkdir(join(folder, 'locks'), { recursive: true, mode: 0o700 });
    await mkdir(cache.#marks, { recursive: true, mode: 0o700 });
    await cache.#content.prepare();
    await cache.#sweep();
    return cache;
  }

  /**
   * The artifact, from the folder or fetched. Callers at the same time share one download; it goes
   * on if its caller gives up. The scope separates tenants: artifacts of two scopes share no file.
   */
  async take(
    sha256: string,
    fetch: Fetch,
    { scope = null, signal }: { scope?: string | null; signal?: AbortSignal } = {},
  ): Promise<HeldArtifact> {
    requireSha256(sha256);
    this.#closed.signal.throwIfAborted();
    signal?.throwIfAborted();
    const name = contentName(sha256, scope);
    const entry = this.#entries.get(name) ?? this.#newEntry(name, sha256, fetch);
    entry.uses += 1;
    let isHeld = true;
    const release = async () => {
      if (!isHeld) return;
      isHeld = false;
      await this.#release(name, entry);
    };
    try {
      const content = await orAborted(entry.loading, signal);
      return { sha256, ...content, release };
    } catch (error) {
      // Not awaited: it waits for the download, which goes on.
      release().catch(() => undefined);
      throw error;
    }
  }

  /** Aborts downloads and gives everything back. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the cache is closed'));
    await Promise.allSettled([...this.#entries.values()].map(({ loading }) => loading));
    await this.#evicting;
    for (const { mark } of this.#entries.values()) await rm(mark, { force: true });
    await this.#owner.close();
  }

  #newEntry(name: string, sha256: string, fetch: Fetch): Entry {
    this.#markCount += 1;
    const mark = join(this.#marks, `${name}.${this.#owner.token}.${this.#markCount}`);
    const entry = { uses: 0, mark, loading: this.#load(name, sha256, mark, fetch) };
    this.#entries.set(name, entry);
    // A failed download is tried again by the next caller, not by those of today.
    entry.loading.catch(() => this.#forget(name, entry));
    return entry;
  }

  async #load(name: string, sha256: string, mark: string, fetch: Fetch): Promise<CachedContent> {
    const { onStep, clock = systemClock } = this.#options;
    const { signal } = this.#closed;
    const unlock = await this.#locks.take(name, signal);
    try {
      await onStep?.('locked');
      await writeFile(mark, '');
      await onStep?.('marked');
      if (!(await this.#content.has(name))) {
        await this.#content.download(name, sha256, fetch, signal);
      }
      await this.#content.touch(name, clock.now());
      const content = await this.#content.read(name);
      this.#bytes.set(name, content.bytes);
      return content;
    } catch (error) {
      await rm(mark, { force: true });
      throw error;
    } finally {
      await unlock();
      await onStep?.('unlocked');
      this.#evictSoon();
    }
  }

  async #release(name: string, entry: Entry): Promise<void> {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    // A download whose callers gave up is finished before it can be removed.
    await entry.loading.catch(() => undefined);
    if (entry.uses > 0) return;
    this.#forget(name, entry);
    await rm(entry.mark, { force: true });
    this.#evictSoon();
  }

  #forget(name: string, entry: Entry): void {
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
  }

  #evictSoon(): void {
    if (!this.#closed.signal.aborted) this.evict().catch(() => undefined);
  }

  /** Removes what was used longest ago until the rest is small enough. */
  async evict(): Promise<void> {
    const evicting = this.#evicting.then(() => this.#evict());
    this.#evicting = evicting.catch(() => undefined);
    await evicting;
  }

  async #evict(): Promise<void> {
    const names = await this.#content.list();
    let total = 0;
    for (const name of names) total += await this.#bytesOf(name);
    for (const known of this.#bytes.keys()) if (!names.includes(known)) this.#bytes.delete(known);
    for (const name of names) {
      if (total <= this.#options.bytesMax) return;
      if (await this.#remove(name)) total -= await this.#bytesOf(name);
    }
  }

  async #bytesOf(name: string): Promise<number> {
    const bytes = this.#bytes.get(name) ?? (await this.#content.bytesOf(name).catch(() => 0));
    this.#bytes.set(name, bytes);
    return bytes;
  }

  /** False when it is in use. The lock keeps others from beginning to use it. */
  async #remove(name: string): Promise<boolean> {
    if (this.#entries.has(name)) return false;
    const unlock = await this.#locks.tryTake(name);
    if (!unlock) return false;
    try {
      if (await this.#isUsed(name)) return false;
      await this.#content.remove(name);
      return true;
    } finally {
      await unlock();
    }
  }

  async #isUsed(name: string): Promise<boolean> {
    for (const mark of await readdir(this.#marks)) {
      if (mark.startsWith(`${name}.`) && (await this.#isLiveMark(mark))) return true;
    }
    return false;
  }

  async #isLiveMark(mark: string): Promise<boolean> {
    const [, token = ''] = mark.split('.');
    return await this.#owner.isAlive(token);
  }

  async #sweep(): Promise<void> {
    await this.#content.sweep();
    await this.#locks.sweep();
    for (const mark of await readdir(this.#marks)) {
      if (!(await this.#isLiveMark(mark))) await rm(join(this.#marks, mark), { force: true });
    }
    // Last: a token without its socket is dead.
    await this.#owner.sweep();
    this.#evictSoon();
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
